// AppAttest
