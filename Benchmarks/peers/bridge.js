// Node.js with the `ws` package: WebSocket in TLS to TCP, as one would write it in an afternoon.
//
//   node bridge.js CERTIFICATE KEY PORT GAME-PORT
'use strict';
const fs = require('fs');
const https = require('https');
const net = require('net');
const { WebSocketServer } = require('ws');

const [certificate, key, port, game] = process.argv.slice(2);
const server = https.createServer({ cert: fs.readFileSync(certificate), key: fs.readFileSync(key) });
const sockets = new WebSocketServer({ server, perMessageDeflate: false });

sockets.on('connection', (player) => {
  const backend = net.connect({ port: Number(game), host: '127.0.0.1', noDelay: true });
  player.on('message', (message) => backend.write(message));
  backend.on('data', (data) => {
    player.send(data);
    if (player.bufferedAmount > 262144) {
      backend.pause();
      const wait = setInterval(() => {
        if (player.bufferedAmount > 65536) return;
        clearInterval(wait);
        backend.resume();
      }, 1);
    }
  });
  player.on('close', () => backend.destroy());
  player.on('error', () => backend.destroy());
  backend.on('close', () => player.close());
  backend.on('error', () => player.terminate());
});
server.listen({ port: Number(port), host: '127.0.0.1', backlog: 4096 });
