/*
 * Webhook receivers in a process of their own: one port for each endpoint. Notes when each notification arrived, by
 * endpoint and run. Messages: { open: [behaviour, …] } → { ports }, 'take' → { arrivals: [[endpoint, run, time], …] }.
 * Behaviours: good, hang, fail, slow (one second).
 */
import { createServer } from 'node:http';

let arrivals = [];
const now = () => performance.timeOrigin + performance.now();

process.on('message', (message) => void answerTo(message));
process.on('disconnect', () => process.exit(0));

async function answerTo(message) {
  if (message === 'take') {
    process.send({ arrivals });
    arrivals = [];
  } else if (message === 'count') {
    process.send({ count: arrivals.length });
  } else if (message.open !== undefined) {
    const ports = await Promise.all(message.open.map((behaviour, endpoint) => open(behaviour, endpoint)));
    process.send({ ports });
  }
}

function open(behaviour, endpoint) {
  const server = createServer({ keepAliveTimeout: 60_000 }, (request, response) => {
    const at = now();
    const chunks = [];
    request.on('data', (chunk) => chunks.push(chunk));
    request.on('end', () => {
      const body = Buffer.concat(chunks).toString();
      const run = /"run_id":"([^"]*)"/.exec(body)?.[1];
      const answer = () => {
        response.writeHead(behaviour === 'fail' ? 503 : 200, { 'content-type': 'text/plain' });
        response.end(behaviour === 'fail' ? 'no' : 'ok');
      };
      if (run === undefined) {
        response.end('ok');
        return;
      }
      if (behaviour !== 'fail' && behaviour !== 'hang') arrivals.push([endpoint, run, at]);
      if (behaviour === 'slow') setTimeout(answer, 1000);
      else if (behaviour !== 'hang') answer();
    });
  });
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', 4096, () => resolve(server.address().port));
  });
}
