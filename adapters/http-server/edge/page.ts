import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, extname, join, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { OptionKind } from '../../../src/options/check-options.js';
import { group, listOf, optional, textLike } from '../../../src/options/option-kinds.js';
import { isRecord, messageOf } from '../../../src/shared/values.js';
import type { JobDialect } from '../dialect.js';
import {
  type HttpRequest,
  type HttpResponse,
  headerSafe,
  headerValue,
  isBelow,
  maximumTargetLength,
  splitTarget,
  textType,
  weightOf,
} from '../http-message.js';
import type { AccessOptions, EdgeGuard } from './access.js';
import { type PageClock, pageClockKind } from './page-clock.js';

/*
 * The web page: the files of its build, and `index.html` for every other path below `/ui/`, because the page has its own router. All
 * addresses in answers are relative, so that any prefix of any proxy works.
 */

/** What the web page shows of its host, and which pages may show it. */
export interface PageOptions {
  /** Name of this installation: 1 to 100 characters. */
  readonly title?: string;
  /** Links to other pages of the host, at most 20: http(s) URLs, or paths that begin with one slash; labels of 1 to 100 characters. */
  readonly links?: readonly { readonly label: string; readonly href: string }[];
  /** Whose pages may show this one in a frame: `self`, or http(s) origins such as `https://portal.example.org`; default: nobody's. */
  readonly frameAncestors?: readonly string[];
  /** The clock of an engine on virtual time, which the page then shows and moves. */
  readonly clock?: PageClock;
}

function atMost(most: number, kind: OptionKind): OptionKind {
  const list = listOf(kind);
  return { ...list, takes: `a list of at most ${most}`, fits: (value) => Array.isArray(value) && value.length <= most };
}

export const label = textLike(/^\P{Cc}{1,100}$/u, '1 to 100 characters without control characters');
export const href: OptionKind = {
  takes: 'an http(s) URL or a path that begins with one slash, of at most 2,000 characters',
  fits: (value) =>
    typeof value === 'string' &&
    /^(?:https?:\/\/|\/(?![/\\]))[^\s\p{Cc}]{0,1990}$/u.test(value) &&
    (value.startsWith('/') || URL.canParse(value)),
};
export const frameAncestor: OptionKind = {
  takes: "'self' or an http(s) origin such as 'https://portal.example.org'",
  fits: (value) => value === 'self' || (typeof value === 'string' && isOrigin(value)),
};
const shown = group<PageOptions>({
  title: optional(label),
  links: optional(atMost(20, group<{ label: string; href: string }>({ label, href }))),
  frameAncestors: optional(atMost(20, frameAncestor)),
  clock: optional(pageClockKind),
});

export const pageKind: OptionKind = {
  takes: 'true, false or an object with options',
  fits: (value) => typeof value === 'boolean' || shown.fits(value),
  faultWithin: (value, path) => (typeof value === 'boolean' ? undefined : shown.faultWithin?.(value, path)),
};

/** Without characters that end a source or a directive of a policy. */
function isOrigin(text: string): boolean {
  const isForm = /^https?:\/\/(?:[a-z\d.-]{1,253}|\[[\da-f:.]{2,45}\])(?::\d{1,5})?$/.test(text);
  return isForm && URL.canParse(text) && new URL(text).origin === text;
}

/** Where the page is, and what it must know of the handler. */
interface PageParts {
  readonly guard: EdgeGuard;
  /** Without a slash at the end, as the next one. */
  readonly basePath: string;
  readonly notificationsPath: string;
  readonly dialect: Pick<JobDialect, 'names'>;
  readonly access: AccessOptions['access'];
}

/** The answer to a request at `/ui` or below; undefined for other paths. */
export type WebPage = (request: HttpRequest) => HttpResponse | undefined;

/** Undefined without the option. Throws if the page cannot be served. */
export function webPage(option: boolean | PageOptions | undefined, parts: PageParts): WebPage | undefined {
  if (option === undefined || option === false) return undefined;
  if (isBelow(parts.notificationsPath, '/ui')) {
    throw new TypeError('createHttpHandler: page has the path /ui: give another notificationsPath');
  }
  const { title, links = [], frameAncestors = [], clock } = option === true ? {} : option;
  built ??= readBuild();
  const { version } = built;
  const { access, dialect, notificationsPath } = parts;
  const settings = {
    ...{ version, dialect: dialect.names === 'upstream' ? 'nomad' : 'neutral' },
    ...{ notificationsPath, signIn: access ?? 'host', title, links },
    // Origins that may hand a token over.
    ...(frameAncestors.length === 0 ? {} : { frameAncestors }),
    ...(clock === undefined ? {} : { hasClock: true }),
  };
  const shell = shellOf(built.index, JSON.stringify(settings).replaceAll('<', '\\u003c'));
  const page: Page = { root: `${parts.basePath}/ui`, guard: parts.guard, files: built.files, shell };
  const headers = headersFor(frameAncestors);
  return (request) => {
    const { path, query } = splitTarget(request.target);
    if (!isBelow(path, page.root)) return undefined;
    const response = answer(page, request, path.slice(page.root.length), query);
    response.headers.push(...headers);
    return response;
  };
}

interface Page {
  /** The path of the page, without the slash at the end. */
  readonly root: string;
  readonly guard: EdgeGuard;
  readonly files: Build['files'];
  /** `index.html` with a relative base. */
  readonly shell: (base: string) => string;
}

/** `rest`: the raw path after `/ui`, from its slash; empty without one. */
function answer(page: Page, request: HttpRequest, rest: string, query: string): HttpResponse {
  if (request.target.length > maximumTargetLength) return refusal(414, 'the request target is too long');
  const refused = page.guard(request);
  if (refused !== undefined) return refusal(refused.status, refused.message);
  if (request.method !== 'GET' && request.method !== 'HEAD') {
    const response = refusal(405, 'the page takes GET and HEAD only');
    response.headers.push('Allow', 'GET, HEAD');
    return response;
  }
  if (rest === '') return redirect('ui/', query);
  const name = rest.slice(1);
  const file = page.files.get(name);
  if (file !== undefined) return fileAnswer(request, name, file);
  // The file of another version: the page notices, and asks to be loaded again.
  if (name.startsWith(hashed)) return refusal(404, 'this version of the page has no such file');
  const up = '../'.repeat(name.split('/').length - 1) || './';
  const moved = ourAddress(name);
  if (moved !== undefined) return redirect(up + moved, query);
  const body = page.shell(up);
  const headers = ['Content-Type', 'text/html; charset=utf-8', 'Cache-Control', 'no-cache'];
  return ifChanged(request, { headers, body, etag: `"${digestOf(body)}"` });
}

function refusal(status: number, text: string): HttpResponse {
  return { status, headers: ['Content-Type', textType, 'Cache-Control', 'no-store'], body: `${text}\n` };
}

/** `target` begins with a name or with dots, so it never leads to another origin. */
function redirect(target: string, query: string): HttpResponse {
  const location = headerSafe(query === '' ? target : `${target}?${query}`);
  return { status: 307, headers: ['Location', location, 'Cache-Control', 'no-store'], body: '' };
}

/** The addresses of Nomad's page, below `ui/`, and ours. */
const moves: readonly (readonly [RegExp, string])[] = [
  // Names of namespaces have no `@`.
  [/^jobs\/([^/]+)(?:@|%40)([\w-]{1,128})(?=\/|$)/, 'jobs/$2/$1'],
  [/^allocations\/(?=[^/])/, 'allocs/'],
  [/^clients(?=\/|$)/, 'nodes'],
  [/^settings\/tokens$/, 'access/tokens'],
];

function ourAddress(name: string): string | undefined {
  for (const [theirs, ours] of moves) if (theirs.test(name)) return name.replace(theirs, ours);
  return undefined;
}

/** The folder of the build whose file names have a hash of their content. */
const hashed = 'assets/';

function fileAnswer(request: HttpRequest, name: string, { type, digest, bodies }: BuiltFile): HttpResponse {
  const coding = codingFor(headerValue(request, 'accept-encoding') ?? '');
  const cached = name.startsWith(hashed) ? 'public, max-age=31536000, immutable' : 'no-cache';
  const headers = ['Content-Type', type, 'Cache-Control', cached, 'Vary', 'Accept-Encoding'];
  if (coding !== 'identity') headers.push('Content-Encoding', coding);
  return ifChanged(request, { headers, body: bodies[coding], etag: `"${digest}-${coding}"` });
}

type Coding = 'br' | 'gzip' | 'identity';

/** The smaller one of the codings that the client prefers; a weight of zero refuses one. */
function codingFor(accepted: string): Coding {
  const weights = new Map<string, number>();
  for (const item of accepted.toLowerCase().split(',')) {
    const [name = '', ...options] = item.split(';');
    weights.set(name.trim(), weightOf(options));
  }
  const weightFor = (coding: string): number => weights.get(coding) ?? weights.get('*') ?? 0;
  const [br, gzip] = [weightFor('br'), weightFor('gzip')];
  if (br > 0 && !(gzip > br)) return 'br';
  return gzip > 0 ? 'gzip' : 'identity';
}

interface Representation {
  readonly headers: string[];
  readonly body: string | Buffer;
  readonly etag: string;
}

/** Without the body if the client has it. */
function ifChanged(request: HttpRequest, { headers, body, etag }: Representation): HttpResponse {
  headers.push('ETag', etag);
  const known = (headerValue(request, 'if-none-match') ?? '').split(',').map((each) => each.trim().replace(/^W\//, ''));
  return known.includes(etag) || known.includes('*')
    ? { status: 304, headers, body: '' }
    : { status: 200, headers, body };
}

function headersFor(frameAncestors: readonly string[]): readonly string[] {
  const ancestors = frameAncestors.map((each) => (each === 'self' ? "'self'" : each)).join(' ') || "'none'";
  const own = ['script', 'style', 'font', 'connect', 'worker'].map((kind) => `${kind}-src 'self'`);
  const policy = [
    ...["default-src 'none'", ...own, "img-src 'self' data:", "base-uri 'self'", "form-action 'self'"],
    ...[`frame-ancestors ${ancestors}`, "require-trusted-types-for 'script'", 'trusted-types signalbox'],
  ];
  return [
    ...['Content-Security-Policy', policy.join('; '), 'X-Content-Type-Options', 'nosniff'],
    ...['Referrer-Policy', 'no-referrer', 'Cross-Origin-Opener-Policy', 'same-origin'],
    ...['Cross-Origin-Resource-Policy', 'same-origin', 'Permissions-Policy', permissions],
  ];
}

/** What a page could otherwise ask for; `clipboard-write` is for copying from plain HTTP as well. */
const permissions = [
  'clipboard-write=(self)',
  ...['accelerometer', 'autoplay', 'camera', 'clipboard-read', 'display-capture', 'encrypted-media', 'fullscreen'],
  ...['geolocation', 'gyroscope', 'hid', 'idle-detection', 'local-fonts', 'magnetometer', 'microphone', 'midi'],
  ...['payment', 'picture-in-picture', 'publickey-credentials-get', 'screen-wake-lock', 'serial', 'usb'],
  ...['window-management', 'xr-spatial-tracking'],
]
  .map((feature) => (feature.includes('=') ? feature : `${feature}=()`))
  .join(', ');

/** The built page, in memory: of one version even while the package is replaced. */
interface Build {
  readonly version: string;
  readonly index: string;
  /** By their paths below `/ui/`. */
  readonly files: ReadonlyMap<string, BuiltFile>;
}

interface BuiltFile {
  readonly type: string;
  readonly digest: string;
  readonly bodies: Readonly<Record<Coding, Buffer>>;
}

/** Read by the first handler with the page; all have the same. */
let built: Build | undefined;

function readBuild(): Build {
  try {
    const { folder, version } = packageHere();
    const web = join(folder, 'dist', 'web');
    const contents = new Map<string, Buffer>();
    let bytes = 0;
    for (const entry of readdirSync(web, { recursive: true, withFileTypes: true })) {
      if (!entry.isFile()) continue;
      const file = join(entry.parentPath, entry.name);
      const content = readFileSync(file);
      bytes += content.length;
      if (bytes > mostBytes) throw new Error(`they have more than ${mostBytes} bytes`);
      contents.set(relative(web, file).replaceAll(sep, '/'), content);
    }
    return { version, index: String(contents.get('index.html')), files: new Map(filesOf(contents)) };
  } catch (error) {
    throw new Error(`createHttpHandler: the files of the page cannot be read: ${messageOf(error)}. ${remedy}`);
  }
}

/** A test of the package bounds the build by the same number. */
const mostBytes = 2_500_000;
const remedy =
  'Keep signalbox out of your bundle, as an external package, or leave the option page off; in the repository, run npm run build';

/** The package of this module. A service that was bundled has its own package here, or none. */
function packageHere(): { readonly folder: string; readonly version: string } {
  // In a bundle for CommonJS the URL is undefined.
  const from = dirname(fileURLToPath(import.meta.url));
  for (let folder = from, above = dirname(from); ; folder = above, above = dirname(above)) {
    const file = join(folder, 'package.json');
    const found: unknown = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : undefined;
    if (isRecord(found) && found['name'] === 'signalbox') return { folder, version: String(found['version']) };
    if (folder === above) throw new Error(`${from} is not in the package`);
  }
}

function* filesOf(contents: ReadonlyMap<string, Buffer>): Iterable<readonly [string, BuiltFile]> {
  for (const [name, identity] of contents) {
    const [br, gzip] = [contents.get(`${name}.br`), contents.get(`${name}.gz`)];
    if (br === undefined || gzip === undefined) continue;
    const type = types[extname(name)] ?? 'application/octet-stream';
    yield [name, { type, digest: digestOf(identity), bodies: { identity, br, gzip } }];
  }
}

const types: Readonly<Record<string, string>> = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.woff2': 'font/woff2',
  '.json': 'application/json',
  '.wasm': 'application/wasm',
};

/** `index.html` with settings; of a given base. Both are put where the build leaves room for them. */
function shellOf(index: string, settings: string): (base: string) => string {
  const [beforeBase, afterBase] = around(index, '<base href="./">');
  const [beforeSettings, end] = around(afterBase, '<script type="application/json" id="settings">{}</script>');
  const rest = `${beforeSettings}<script type="application/json" id="settings">${settings}</script>${end}`;
  return (base) => `${beforeBase}<base href="${base}">${rest}`;
}

function around(text: string, mark: string): readonly [before: string, after: string] {
  const [before, after, ...more] = text.split(mark);
  if (before === undefined || after === undefined || more.length > 0) {
    throw new Error(`createHttpHandler: index.html of the page must contain ${mark} once`);
  }
  return [before, after];
}

function digestOf(content: string | Buffer): string {
  return createHash('sha256').update(content).digest('base64url').slice(0, 27);
}
