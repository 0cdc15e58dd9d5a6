import { createServer, type IncomingMessage, type Server } from 'node:http';
import { messageIdentity, verifySignature, verifyStandardSignature } from '../../src/receiver.js';
import { isRecord } from '../../src/shared/values.js';
import { listening, listenParts } from './addresses.js';
import { type Command, command, type Invocation, option } from './command-line/command.js';
import { firstSignal } from './first-signal.js';
import { inJson, inLines } from './output/tables.js';
import { Stopped } from './stopped.js';

/** Maximum size of a body in bytes; longer ones are not read. */
const mostBytes = 1_048_576;

const options = {
  listen: option.text('HOST:PORT', 'address to listen on (127.0.0.1:4647)'),
  'token-file': option.text('FILE', 'file with the secret that verifies signatures'),
  status: option.text('STATUS', 'response status, for testing failures (204)'),
} as const;

/** `signalbox receive`: a test destination. Prints each notification; `--json` prints bodies, with control characters escaped. */
export const receive: Command = command({
  usage: 'receive',
  summary: 'receive notifications and print them, until a signal',
  options,
  local: true,
  run: async (invocation) => {
    // A reader of the "receiving on" line may send a signal at once.
    const signalled = firstSignal();
    const server = await startReceiver(invocation);
    await signalled;
    server.close();
    server.closeAllConnections();
    return 0;
  },
});

/** Listens and prints; the caller closes it. */
export async function startReceiver(invocation: Invocation<typeof options>): Promise<Server> {
  const { terminal, json } = invocation;
  const address = listenParts(invocation.options.listen ?? '127.0.0.1:4647');
  if (address === undefined) throw new Stopped('--listen takes HOST:PORT, such as 127.0.0.1:4647', 2);
  const status = Number(invocation.options.status ?? 204);
  if (!(Number.isInteger(status) && status >= 200 && status <= 599)) throw new Stopped('--status takes 200 to 599', 2);
  const file = invocation.options['token-file'];
  const token = file === undefined ? undefined : (await terminal.read(file)).trim();
  if (token === '') throw new Stopped(`${file} is empty: write the token of the configuration to it`, 2);
  const server = createServer((request, response) => {
    void bodyOf(request).then((body) => {
      terminal.out(json ? `${inLines(body)}\n` : lineOf(request, body, token));
      response.writeHead(status).end();
    });
  });
  terminal.error(`receiving on ${await listening(server, address)}\n`);
  return server;
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of request as AsyncIterable<Buffer>) {
      size += chunk.length;
      if (size > mostBytes) break;
      chunks.push(chunk);
    }
  } catch {
    // The sender disconnected; the received part is printed.
  }
  return Buffer.concat(chunks).toString('utf8');
}

/** `run:errored "Run Errored" id=… signature=right`. Untrusted strings are printed as JSON, without control characters. */
function lineOf(request: IncomingMessage, body: string, token: string | undefined): string {
  const { trigger, message } = saidIn(body);
  const checked = token === undefined ? '' : ` signature=${signatureOf(request, body, token)}`;
  return `${inOneWord(trigger)} ${inJson(message)} id=${inOneWord(idOf(request))}${checked}\n`;
}

function inOneWord(text: string): string {
  return inJson(text).slice(1, -1);
}

/** The headers of both forms of names, and those of Standard Webhooks. */
const signatureHeaders = ['x-svc-notification-signature', 'x-tfe-notification-signature'] as const;
const idHeaders = ['x-svc-notification-id', 'x-tfe-notification-id', 'webhook-id'] as const;

function idOf({ headers }: IncomingMessage): string {
  const found = idHeaders.map((id) => messageIdentity(headers, { id })).find((identity) => identity.isOk());
  return found === undefined ? 'none' : found.map(({ id }) => id).unwrapOr('none');
}

/** `right` if any of the present signatures is right. */
function signatureOf({ headers }: IncomingMessage, body: string, token: string): 'right' | 'wrong' | 'missing' {
  const checks = [
    ...signatureHeaders.map((header) => verifySignature({ body, headers, token, header })),
    verifyStandardSignature({ body, headers, token, now: Date.now() }),
  ];
  // Only the signature faults count here: the body may be any payload.
  const faults = checks.map((check) =>
    check.isOk() || check.error.type === 'payload_malformed' ? null : check.error.type,
  );
  if (faults.includes(null)) return 'right';
  return faults.every((fault) => fault === 'signature_missing') ? 'missing' : 'wrong';
}

/** Recognises a run payload, one with its trigger at the top level, a custom event, or a chat message. */
function saidIn(body: string): { readonly trigger: string; readonly message: string } {
  let payload: unknown;
  try {
    payload = JSON.parse(body);
  } catch {
    return { trigger: 'unknown', message: body.slice(0, 200) };
  }
  const { notifications, trigger, type, message, text } = membersOf(payload);
  const first: unknown = Array.isArray(notifications) ? notifications[0] : undefined;
  if (first !== undefined) {
    const about = membersOf(first);
    return { trigger: String(about['trigger']), message: String(about['message']) };
  }
  const name = [trigger, type].find((each) => typeof each === 'string');
  if (typeof name === 'string' && typeof message === 'string') return { trigger: name, message };
  return { trigger: 'message', message: typeof text === 'string' ? text : body.slice(0, 200) };
}

function membersOf(value: unknown): Readonly<Record<string, unknown>> {
  return isRecord(value) ? value : {};
}
