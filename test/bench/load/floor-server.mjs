/*
 * The least that accepts and delivers notifications durably, written by hand: what `--floor` of delivery-load.mjs measures in
 * place of `signalbox serve`. One configuration, one row for an event, one commit for those of a turn of the event loop, one update for
 * each outcome (gathered for 200 ms, as the server does), an HMAC, undici, and nothing else: no checks, order, retries, log or access.
 */
import { createHmac } from 'node:crypto';
import { createServer } from 'node:http';
import { parseArgs } from 'node:util';
import Database from 'better-sqlite3';
import { Agent } from 'undici';

const { values } = parseArgs({ options: { store: { type: 'string' } }, strict: false, allowPositionals: true });
const database = new Database(values.store.replace(/^sqlite:/, ''));
database.pragma('journal_mode = WAL');
database.pragma('synchronous = FULL');
database.exec('CREATE TABLE events (id INTEGER PRIMARY KEY, body TEXT NOT NULL, delivered INTEGER NOT NULL)');
const insert = database.prepare('INSERT INTO events (body, delivered) VALUES (?, 0)');
const update = database.prepare('UPDATE events SET delivered = 1 WHERE id = ?');
const agent = new Agent({ connections: 16 });
let endpoint;
let accepted = [];
let outcomes = [];

const server = createServer((request, response) => {
  const chunks = [];
  request.on('data', (chunk) => chunks.push(chunk));
  request.on('end', () => {
    const { attributes } = JSON.parse(Buffer.concat(chunks)).data;
    if (!request.url.endsWith('/notification-events')) {
      endpoint = new URL(attributes.url);
      answer(response, 201);
      return;
    }
    if (accepted.length === 0) setImmediate(storeAccepted);
    accepted.push({ response, body: JSON.stringify(attributes) });
  });
});
server.listen(0, '127.0.0.1', () => console.log(`http://127.0.0.1:${server.address().port}`));
process.on('SIGTERM', () => process.exit(0));

function storeAccepted() {
  const events = accepted;
  accepted = [];
  database.exec('BEGIN IMMEDIATE');
  const ids = events.map(({ body }) => insert.run(body).lastInsertRowid);
  database.exec('COMMIT');
  for (const [index, { response, body }] of events.entries()) {
    answer(response, 202);
    void deliver(ids[index], body);
  }
}

async function deliver(id, body) {
  const signature = createHmac('sha512', 'a-secret-of-some-length').update(body).digest('hex');
  const headers = { 'content-type': 'application/json', 'x-tfe-notification-signature': signature };
  const { origin, pathname: path } = endpoint;
  const { body: answered } = await agent.request({ origin, path, method: 'POST', headers, body });
  await answered.dump();
  if (outcomes.length === 0) setTimeout(storeOutcomes, 200);
  outcomes.push(id);
}

function storeOutcomes() {
  const delivered = outcomes;
  outcomes = [];
  database.exec('BEGIN IMMEDIATE');
  for (const id of delivered) update.run(id);
  database.exec('COMMIT');
}

function answer(response, status) {
  response.writeHead(status, { 'content-type': 'application/json', 'content-length': 2 });
  response.end('{}');
}
