import { isAbsolute, resolve } from 'node:path';
import { err, ok, type Result } from 'neverthrow';
import type { Kind, Misfit } from './kind.js';

/** Where a store is. */
export type StorePlace =
  | { readonly type: 'memory' }
  | { readonly type: 'sqlite'; readonly path: string }
  /** `url` is for `pg`, without `schema`. It may contain a password. */
  | { readonly type: 'postgres'; readonly url: string; readonly schema: string };

const defaultSchema = 'signalbox';
/** The parameters of a URL that name files. */
const fileParameters = ['sslrootcert', 'sslcert', 'sslkey'] as const;
/** What `pg` takes from a URL, besides user, password, host, port and database; it ignores others. */
const parameters = [
  ...['application_name', 'host', 'options', 'port', 'sslmode', 'sslnegotiation', 'uselibpqcompat'],
  ...fileParameters,
];
const sslModes = ['disable', 'no-verify', 'prefer', 'require', 'verify-ca', 'verify-full'];

/** The setting `store`. Its values may contain a password: print them with `shownStore` only. */
export const storeKind: Kind = {
  takes: 'takes memory, sqlite:PATH or postgres://USER@HOST/DATABASE',
  fromText: (text) => checked(text),
  fromJson: (json) => (typeof json === 'string' ? checked(json) : err({ pointer: '' })),
  toJson: (value) => shownStore(String(value)),
  schema: { type: 'string' },
  path: 'store',
};

/** The URL of a server of PostgreSQL, such as one past a pooler. */
export const postgresUrlKind: Kind = {
  ...storeKind,
  takes: 'takes a URL such as postgres://USER@HOST/DATABASE',
  fromText: (text) => serverUrl(text),
  fromJson: (json) => (typeof json === 'string' ? serverUrl(json) : err({ pointer: '' })),
};

function checked(text: string): ReturnType<Kind['fromText']> {
  return placeFrom(text).map(() => text);
}

function serverUrl(text: string): ReturnType<Kind['fromText']> {
  const place = isPostgres(text) ? postgresPlace(text) : misfit();
  if (place.isErr()) return err(place.error);
  return new URL(text).searchParams.has('schema') ? misfit('takes no schema: it is that of the store') : ok(text);
}

const isPostgres = (text: string): boolean => /^postgres(?:ql)?:/.test(text);

const misfit = (reason?: string): Result<never, Misfit> =>
  err({ pointer: '', ...(reason === undefined ? {} : { reason }) });

function placeFrom(text: string): Result<StorePlace, Misfit> {
  if (text === 'memory') return ok({ type: 'memory' });
  if (/^sqlite:[^\0]+$/s.test(text)) return ok({ type: 'sqlite', path: text.slice('sqlite:'.length) });
  return isPostgres(text) ? postgresPlace(text) : misfit();
}

/** No message contains a part of the URL that may be of a password. */
function postgresPlace(text: string): Result<Extract<StorePlace, { readonly type: 'postgres' }>, Misfit> {
  if (!/^postgres(?:ql)?:\/\//.test(text) || !URL.canParse(text)) return misfit();
  const url = new URL(text);
  const fault = faultOfParts(url) ?? faultOfParameters(url);
  if (fault !== undefined) return misfit(fault);
  const schema = url.searchParams.get('schema') ?? defaultSchema;
  if (!url.searchParams.has('schema')) return ok({ type: 'postgres', url: text, schema });
  url.searchParams.delete('schema');
  return ok({ type: 'postgres', url: url.href, schema });
}

/** Characters of a password that end a part of a URL: what follows them would be taken for something else. */
function faultOfParts(url: URL): string | undefined {
  const isWhole = url.hash === '' && !/[@/]/.test(url.pathname.slice(1)) && !url.hostname.includes(',');
  return isWhole && isDecodable(url)
    ? undefined
    : 'takes one host, and a user, a password and a database in which : / ? # @ and % are written as %3A and so on';
}

function faultOfParameters({ searchParams }: URL): string | undefined {
  for (const name of searchParams.keys()) {
    if (name === 'password' || name === 'user') return 'takes user and password before the host, not as parameters';
    if (name !== 'schema' && !parameters.includes(name))
      return `has a parameter that is not known; known are schema, ${parameters.join(', ')}`;
  }
  const mode = searchParams.get('sslmode');
  if (mode !== null && !sslModes.includes(mode)) return `takes as sslmode: ${sslModes.join(', ')}`;
  const schema = searchParams.get('schema') ?? defaultSchema;
  return /^(?!pg_)[A-Za-z0-9_-]{1,63}$/.test(schema)
    ? undefined
    : 'takes as schema up to 63 letters, digits, _ and -, not beginning with pg_';
}

function isDecodable({ username, password, pathname }: URL): boolean {
  try {
    for (const part of [username, password, pathname]) decodeURIComponent(part);
    return true;
  } catch {
    return false;
  }
}

/** The place of a value of the setting `store`. */
export function storePlace(value: string): StorePlace {
  return placeFrom(value)._unsafeUnwrap();
}

/** Whether the value contains a password. */
export function hasPassword(value: string): boolean {
  return isPostgres(value) && URL.canParse(value) && new URL(value).password !== '';
}

/** The value without its password. */
function shownStore(value: string): string {
  if (!hasPassword(value)) return value;
  const url = new URL(value);
  url.password = 'hidden';
  return url.href.replace(':hidden@', ':[hidden]@');
}

/** The URL for programs that read the password elsewhere. */
export function withoutPassword(value: string): string {
  if (!hasPassword(value)) return value;
  const url = new URL(value);
  url.password = '';
  return url.href;
}

/** The value with relative paths resolved against this folder. */
export function storeIn(value: string, folder: string): string {
  const within = (path: string): string => (isAbsolute(path) ? path : resolve(folder, path));
  if (value.startsWith('sqlite:')) return `sqlite:${within(value.slice('sqlite:'.length))}`;
  if (!isPostgres(value)) return value;
  const url = new URL(value);
  const named = fileParameters.filter((name) => url.searchParams.has(name));
  if (named.length === 0) return value;
  for (const name of named) url.searchParams.set(name, within(url.searchParams.get(name) ?? ''));
  return url.href;
}
