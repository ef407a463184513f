// KeyStore
