import type { ConfigurationView, DeliveryDetails } from './answers.js';
import { triggerNamed } from './requests.js';

type Request = NonNullable<DeliveryDetails['attempts'][number]['request']>;

interface Signed extends Pick<ConfigurationView, 'id' | 'kind' | 'triggers'> {
  readonly delivery: Pick<NonNullable<ConfigurationView['delivery']>, 'headerNames'> | null;
}

/** The default name of the header with the signature. */
const defaultHeader = 'x-svc-notification-signature';

/** A program that verifies requests to a configuration, or why there is none. It contains no secret. */
export type VerifySnippet = { readonly program: string } | { readonly why: string };

/** Decided by the request as it was sent: only what was signed can be verified. */
export function verifySnippet({ id, kind, triggers, delivery }: Signed, request: Request | null): VerifySnippet {
  if (kind !== 'generic') return { why: 'Only generic destinations are signed.' };
  if (request === null) return { why: 'The request of this try is not kept.' };
  const extra = new Set((delivery?.headerNames ?? []).map((name) => name.toLowerCase()));
  const names = Object.keys(request.headers).filter((name) => /^[\w-]{1,100}$/.test(name) && !extra.has(name));
  const isNotification = triggers.every((trigger) => triggerNamed(trigger) !== undefined);
  // It also refuses requests that are replayed later.
  if (names.includes('webhook-signature')) {
    const verify = isNotification ? 'verifyStandardSignature' : 'verifyStandardSignedJson';
    return { program: program(id, { verify, more: ', now: Date.now()' }) };
  }
  const header = names.find((name) => name.endsWith('-signature'));
  if (header === undefined) return { why: 'The request has no signature: the configuration has no signing token.' };
  const verify = isNotification ? 'verifySignature' : 'verifySignedJson';
  return { program: program(id, { verify, more: header === defaultHeader ? '' : `, header: '${header}'` }) };
}

function program(id: string, { verify, more }: { readonly verify: string; readonly more: string }): string {
  return `// npm install signalbox; NOTIFICATION_TOKEN is the signing token of ${id}
import { createServer } from 'node:http';
import { ${verify} } from 'signalbox/receiver';

const token = process.env.NOTIFICATION_TOKEN ?? '';
const mostBytes = 1_000_000;

const server = createServer(async (request, response) => {
  // The signature is that of the raw body.
  const chunks = [];
  let bytes = 0;
  for await (const chunk of request) {
    bytes += chunk.length;
    if (bytes > mostBytes) return response.writeHead(413, { Connection: 'close' }).end();
    chunks.push(chunk);
  }
  const body = Buffer.concat(chunks);
  const checked = ${verify}({ body, headers: request.headers, token${more} });
  if (checked.isErr()) {
    console.error(checked.error.type, checked.error.message);
    return response.writeHead(401).end();
  }
  response.writeHead(204).end();
  console.log(checked.value);
});
server.listen(Number(process.env.PORT ?? 8080), '127.0.0.1');
`;
}
