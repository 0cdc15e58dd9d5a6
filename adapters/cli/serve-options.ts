import { isIPv6 } from 'node:net';
import { parseArgs } from 'node:util';
import { err, ok, type Result } from 'neverthrow';

export interface ServeOptions {
  readonly host: string;
  readonly port: number;
  /** A path means SQLite, null means memory. */
  readonly storePath: string | null;
  readonly names: 'seed' | 'upstream';
  readonly access: 'token' | 'open';
  readonly seedFile: string | null;
  /** Keys for tokens and URLs at rest; null keeps them in the clear. */
  readonly encryptionKeyFile: string | null;
  /** Ranges that notifications may be sent to although they are not public. */
  readonly allowOutbound: readonly string[];
  /** Without a slash at the end; empty for the root. */
  readonly notificationsBase: string;
  readonly runner: boolean;
  readonly publicOrigin: string | null;
  /** Names and addresses that requests may be sent to besides loopback, the listening address and the public origin. */
  readonly allowHosts: readonly string[];
  /** Print requests to try once the server is ready. */
  readonly examples: boolean;
}

export const serveUsage = `signalbox serve [options]

  --listen HOST:PORT          address to listen on; port 0 takes a free one (127.0.0.1:4646)
  --store memory|sqlite:PATH  where everything is kept (memory)
  --names seed|upstream       spelling of headers and of notification words (seed)
  --access token|open         token: callers need tokens, a management token is made at the first start (token)
                              open: everybody may do everything; only on a loopback address
  --seed FILE                 JSON with workspaces, users, namespaces and tokens, applied at every start
  --encryption-key-file FILE  lines ID KEY: tokens and URLs are stored sealed with the first, all of them open (none)
  --allow-outbound CIDR,...   private ranges that notifications may be sent to (none)
  --notifications-base PATH   path of the notification interface (/ with seed names, /api/v2 with upstream names)
  --public-origin URL         origin of this server as others see it, for links (http://HOST:PORT)
  --allow-host HOST,...       further names that requests may be sent to (loopback, the address connected to and
                              the public origin are always answered; * answers to every name)
  --no-runner                 run no jobs on this host
  --examples                  print requests to try, after the first line

  E-mail needs a mail server in the environment: SIGNALBOX_SMTP_URL, and the sender in SIGNALBOX_MAIL_FROM.
`;

/** The options of `signalbox serve`; the message of an error names the option and says what it takes. */
export function parseServeOptions(args: readonly string[]): Result<ServeOptions, string> {
  let values: Values;
  try {
    values = parseArgs({ args: [...args], options: known, allowPositionals: false, strict: true }).values;
  } catch (error) {
    return err(error instanceof Error ? error.message : 'the options cannot be read');
  }
  const listen = parseListen(values.listen ?? '127.0.0.1:4646');
  if (listen === undefined) return err('--listen takes HOST:PORT, such as 127.0.0.1:4646 or [::1]:0');
  const store = parseStore(values.store ?? 'memory');
  if (store === undefined) return err('--store takes memory or sqlite:PATH');
  const names = values.names ?? 'seed';
  if (names !== 'seed' && names !== 'upstream') return err('--names takes seed or upstream');
  const access = values.access ?? 'token';
  if (access !== 'token' && access !== 'open') return err('--access takes token or open');
  if (access === 'open' && !isLoopback(listen.host)) {
    return err('--access open is allowed only when --listen is a loopback address, such as 127.0.0.1:4646');
  }
  const notificationsBase = parseBase(values['notifications-base'] ?? (names === 'upstream' ? '/api/v2' : '/'));
  if (notificationsBase === undefined) return err('--notifications-base takes a path, such as / or /api/v2');
  const origin = values['public-origin'];
  if (origin !== undefined && !isOrigin(origin)) return err('--public-origin takes a URL such as https://example.org');
  const allowHosts = listFrom(values['allow-host']);
  if (!allowHosts.every(isHost))
    return err('--allow-host takes names or addresses without ports, such as jobs.internal');
  return ok({
    ...listen,
    storePath: store.path,
    names,
    access,
    seedFile: values.seed ?? null,
    encryptionKeyFile: values['encryption-key-file'] ?? null,
    allowOutbound: listFrom(values['allow-outbound']),
    notificationsBase,
    runner: values['no-runner'] !== true,
    publicOrigin: origin === undefined ? null : new URL(origin).origin,
    allowHosts,
    examples: values.examples === true,
  });
}

const known = {
  listen: { type: 'string' },
  store: { type: 'string' },
  names: { type: 'string' },
  access: { type: 'string' },
  seed: { type: 'string' },
  'encryption-key-file': { type: 'string' },
  'allow-outbound': { type: 'string', multiple: true },
  'allow-host': { type: 'string', multiple: true },
  'notifications-base': { type: 'string' },
  'public-origin': { type: 'string' },
  'no-runner': { type: 'boolean' },
  examples: { type: 'boolean' },
} as const;

type Values = ReturnType<typeof parseArgs<{ options: typeof known }>>['values'];

/** An option that may be repeated and may hold several values, separated by commas. */
function listFrom(given: readonly string[] | undefined): readonly string[] {
  return (given ?? []).flatMap((list) => list.split(',')).filter((item) => item !== '');
}

function isHost(text: string): boolean {
  return text === '*' || isIPv6(text) || /^[A-Za-z0-9._-]{1,253}$/.test(text);
}

function parseListen(text: string): { readonly host: string; readonly port: number } | undefined {
  const match = /^(?:\[([0-9a-fA-F:.]+)\]|([^:[\]\s]+)):([0-9]{1,5})$/.exec(text);
  const port = Number(match?.[3]);
  const host = match?.[1] ?? match?.[2];
  return host === undefined || port > 65_535 ? undefined : { host, port };
}

function parseStore(text: string): { readonly path: string | null } | undefined {
  if (text === 'memory') return { path: null };
  const path = text.startsWith('sqlite:') ? text.slice('sqlite:'.length) : '';
  return path === '' ? undefined : { path };
}

function parseBase(text: string): string | undefined {
  if (text === '/' || text === '') return '';
  return /^(?:\/[A-Za-z0-9._~-]+)+\/?$/.test(text) ? text.replace(/\/$/, '') : undefined;
}

function isOrigin(text: string): boolean {
  return URL.canParse(text) && /^https?:$/.test(new URL(text).protocol);
}

/** `localhost` is trusted to be what it says; every other name could resolve to anything. */
function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127(?:\.[0-9]{1,3}){3}$/.test(host);
}
