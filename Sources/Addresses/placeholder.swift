// Addresses
