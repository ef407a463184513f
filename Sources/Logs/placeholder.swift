// Logs
