import { serve } from '../../../../adapters/cli/serve/serve.js';
import { readTextFile } from '../../../../adapters/cli/terminal.js';

/** What a request is sent with. */
export interface Sent {
  readonly body?: unknown;
  /** Secret of a token; the management token when absent, none when null. */
  readonly token?: string | null;
}

export interface Answered {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** The parsed body; undefined if it is not JSON. */
  // biome-ignore lint/suspicious/noExplicitAny: answers are checked member by member
  readonly json: any;
}

/** A running server with tokens and its default names, as `signalbox serve` starts it. */
export interface Served {
  readonly origin: string;
  /** Secret of the management token. */
  readonly management: string;
  ask(method: string, target: string, sent?: Sent): Promise<Answered>;
  /** Asks until the answer is as wanted; fails after ten seconds. */
  until(target: string, wanted: (answered: Answered) => boolean): Promise<Answered>;
  /** Creates a client token whose policy has these capabilities in the namespace `default`; its secret. */
  tokenWith(...capabilities: readonly string[]): Promise<string>;
  stop(): Promise<void>;
}

export async function startServed(...options: readonly string[]): Promise<Served> {
  const printed: string[] = [];
  const server = await serve(['--store', 'memory', '--listen', '127.0.0.1:0', ...options], {
    out: (text) => printed.push(text),
    error: () => undefined,
    colours: false,
    environment: process.env,
    read: readTextFile,
  });
  const management = /^management token.*: (\S+)$/m.exec(printed.join(''))?.[1] ?? '';
  const ask: Served['ask'] = async (method, target, { body, token = management } = {}) => {
    const response = await fetch(server.origin + target, {
      method,
      headers: {
        ...(token === null ? {} : { Authorization: `Bearer ${token}` }),
        ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    return { status: response.status, headers: response.headers, text, json: parsed(text) };
  };
  const until: Served['until'] = async (target, wanted) => {
    const deadline = performance.now() + 10_000;
    for (;;) {
      const answered = await ask('GET', target);
      if (wanted(answered)) return answered;
      if (performance.now() > deadline) throw new Error(`${target} stays ${answered.status} ${answered.text}`);
      // A blocking query returns with the next change.
      await ask('GET', `${target}?index=${answered.headers.get('x-svc-index') ?? '0'}&wait=250ms`);
    }
  };
  let policies = 0;
  const tokenWith: Served['tokenWith'] = async (...capabilities) => {
    policies += 1;
    const name = `contract-${policies}`;
    const list = capabilities.map((capability) => JSON.stringify(capability)).join(', ');
    const Rules = `namespace "default" { capabilities = [${list}] }`;
    await ask('PUT', `/v1/acl/policy/${name}`, { body: { Name: name, Rules } });
    const made = await ask('PUT', '/v1/acl/token', { body: { Name: name, Type: 'client', Policies: [name] } });
    return String(made.json.SecretID);
  };
  return { origin: server.origin, management, ask, until, tokenWith, stop: () => server.stop() };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
