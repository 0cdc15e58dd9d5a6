import { documentOf } from './document.js';
import type { Played } from './play-transcript.js';
import { type Answered, isRecord, type Reply, type Step, type Transcript, valuesAt } from './transcript.js';

/** An answer without what is different on every run. */
export type Outline = Readonly<Record<string, unknown>>;

/**
 * The answers of one transcript in the form in which they are recorded; null where nothing is compared. Ids and the like become
 * `<uuid:1>`, numbered by first appearance, indexes `<index:1>`, numbered by their order, moments `<time>`.
 */
export function outlinesOf({ steps }: Transcript, { run, replies }: Played): readonly (Outline | null)[] {
  const seen = new Map<string, number>();
  const outlines = steps.map((step, at) => (isCompared(step) ? outlineOf(step, replies[at], seen) : null));
  const indexes = new Set<number>();
  const collecting: Naming = { run, tokenOf: () => '', rankOf: (index) => `${indexes.add(index).size}` };
  for (const outline of outlines) renamed(outline, collecting, root);
  const ranks = new Map([...indexes].sort((a, b) => a - b).map((index, at) => [index, `<index:${at + 1}>`]));
  const naming: Naming = { run, tokenOf: tokens(), rankOf: (index) => ranks.get(index) as string };
  return outlines.map((outline) => renamed(outline, naming, root) as Outline | null);
}

export function isCompared({ quiet, background }: Step): boolean {
  return quiet !== true && background === undefined;
}

function outlineOf(step: Step, reply: Reply | undefined, seen: Map<string, number>): Outline {
  if (reply === undefined) return { skipped: 'the request was never sent' };
  if ('skipped' in reply) return reply;
  const { kind, document } = documentOf(reply, step, seen);
  for (const [identity] of JSON.stringify(document).matchAll(identities)) {
    if (!seen.has(identity)) seen.set(identity, seen.size);
  }
  return {
    status: reply.status,
    ...(reply.notReached === true ? { notReached: true } : {}),
    ...(step.slowerThanMs === undefined ? {} : { slower: reply.ms >= step.slowerThanMs }),
    headers: headersOf(step, reply, document),
    [kind]: picked(step, document, kind),
  };
}

function picked({ pickJson, pick = pickJson }: Step, document: unknown, kind: string): unknown {
  if (pick === undefined || (pickJson !== undefined && kind !== 'json')) return document;
  return Object.fromEntries(pick.map((pointer) => [pointer, valuesAt(document, pointer)]));
}

const comparedHeaders = /^(content-type|content-encoding|location|x-nomad-.+)$/;
/** Lists, whose index is that of a table which everything else moves too. */
const readsOfTables = [
  /^\/v1\/(jobs|allocations|evaluations|deployments|nodes|node\/pools|namespaces|services|search|scaling\/policies)(\/|$)/,
  /^\/v1\/service\/.+(\/|$)/,
  /^\/v1\/job\/.+\/(allocations|evaluations|deployments?|services|scale)(\/|$)/,
  /^\/v1\/(evaluation|node)\/.+\/allocations(\/|$)/,
  /^\/v1\/deployment\/allocations\/.+(\/|$)/,
];

/** An index in a header, to be ranked. */
class IndexValue {
  constructor(readonly index: number) {}
}

function headersOf(step: Step, answered: Answered, document: unknown): Outline {
  const names = Object.keys(answered.headers).filter((name) => comparedHeaders.test(name));
  const headers: Record<string, unknown> = Object.fromEntries(
    names.sort().map((name) => [name, answered.headers[name]]),
  );
  const { 'x-nomad-index': index, 'x-nomad-nexttoken': next } = answered.headers;
  if (index !== undefined) headers['x-nomad-index'] = indexHeader(step, answered.status, Number(index), document);
  if (next !== undefined && /^\d+$/.test(next)) headers['x-nomad-nexttoken'] = new IndexValue(Number(next));
  return headers;
}

/** The header is told by what of the body it equals. */
function indexHeader({ path = '', exactIndex }: Step, status: number, index: number, document: unknown): unknown {
  if (index === 0) return 0;
  const body = isRecord(document) ? document : {};
  if (body['Index'] === index) return '<Index of the body>';
  if (body['ModifyIndex'] === index) return '<ModifyIndex of the body>';
  const ofTable = status === 404 || readsOfTables.some((pattern) => pattern.test(path));
  return ofTable && exactIndex !== true ? '<table index>' : new IndexValue(index);
}

interface Naming {
  readonly run: string;
  readonly tokenOf: (kind: string, identity: string) => string;
  readonly rankOf: (index: number) => string;
}

/** Where a value stands: the name of its member, and what that belongs to. */
interface Position {
  readonly key: string;
  readonly owner: Readonly<Record<string, unknown>>;
}

const root: Position = { key: '', owner: {} };

const identities =
  /(?<uuid>[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})|(?<dispatch>\b\d{10}-[0-9a-f]{8}\b)|(?<=\/periodic-)(?<launch>\d{10})\b|(?<=\bv1:)(?<class>\d{6,})/g;
const noId = '00000000-0000-0000-0000-000000000000';
const zeroTime = '0001-01-01T00:00:00Z';
const moment = /\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)/g;
const momentKey = /(At|Time)$|^(LastRestart|RequireProgressBy|WaitUntil|NextPeriodicLaunch|Timestamp|ForceDeadline)$/;
/** Maps that users write: their members mean nothing. */
const userMaps = new Set(['Meta', 'Env', 'Config']);
const pageToken = /^\d+(?=\.[0-9a-f]{8}-[0-9a-f]{4}-)/;
const address = /\b(127\.\d+\.\d+\.\d+|10\.\d+\.\d+\.\d+|172\.\d+\.\d+\.\d+|192\.168\.\d+\.\d+)(:\d+)?(?![\d/])/g;
const folderOfAllocation = /(?<![^\s"'])\/[^\s:"']*\/(?=<uuid:\d+>)/g;
const brokenDuration = /\b(\d+[hm])*\d+\.\d+(ns|µs|ms|s)\b/g;

/** Members of the machine and the moment, which say nothing beyond being there. */
const accidental: Readonly<Record<string, string>> = {
  NodeName: '<node>',
  Hash: '<hash>',
  HeartbeatTTL: '<duration>',
  StartDelay: '<duration>',
  start_delay: '<duration>',
  NormScore: '<score>',
  AllocationTime: '<duration>',
  SnapshotIndex: '<index>',
  LastAllocUpdateIndex: '<index>',
  LastMissedHeartbeatIndex: '<index>',
};

/** Records that agents change too have one of these members: when they were last changed is chance. */
const membersOfMoving = [
  'ClientStatus',
  'Healthy',
  'TriggeredBy',
  'JobSpecModifyIndex',
  'Children',
  'SchedulingEligibility',
];

function renamed(value: unknown, naming: Naming, at: Position): unknown {
  if (value === null || value === undefined) return null;
  if (value instanceof IndexValue) return naming.rankOf(value.index);
  if (Array.isArray(value)) return value.map((one) => renamed(one, naming, at));
  if (isRecord(value)) return renamedMembers(value, naming, at.key);
  const word = Object.hasOwn(accidental, at.key) ? accidental[at.key] : undefined;
  if (word !== undefined) return value === '' || value === 0 ? value : word;
  if (momentKey.test(at.key) && at.key !== 'MinHealthyTime') return renamedMoment(value);
  if (typeof value === 'string') return renamedText(value, naming);
  return typeof value === 'number' ? renamedNumber(value, naming, at) : value;
}

function renamedMembers(record: Readonly<Record<string, unknown>>, naming: Naming, key: string): unknown {
  const members = Object.entries(record).map(([name, member]) => {
    if (key === 'Scores' && typeof member === 'number') return [name, '<score>'];
    // Pointers that were picked are named like what they end in.
    const inner = userMaps.has(key) ? '' : name.slice(name.lastIndexOf('/') + 1);
    return [renamedText(name, naming), renamed(member, naming, { key: inner, owner: record })];
  });
  return Object.fromEntries(members);
}

function renamedMoment(value: unknown): unknown {
  if (typeof value === 'number') return value === 0 ? 0 : '<time>';
  return typeof value === 'string' ? value.replace(moment, momentWord) : value;
}

/** Moments of a far future are meant. */
function momentWord(text: string): string {
  return text === zeroTime ? '<zero time>' : text > '2090' ? text : '<time>';
}

function renamedNumber(value: number, naming: Naming, { key, owner }: Position): unknown {
  if (key.endsWith('Index')) {
    if (value === 0) return 0;
    const moves = key === 'ModifyIndex' || key === 'AllocModifyIndex';
    return moves && membersOfMoving.some((member) => member in owner) ? '<index>' : naming.rankOf(value);
  }
  const isPort = key === 'Value' || key === 'Port' || key === 'To';
  return isPort && value >= 20_000 && value <= 32_000 ? '<port>' : value;
}

function renamedText(text: string, naming: Naming): string {
  return text
    .replaceAll(naming.run, '{{run}}')
    .replace(pageToken, (index) => naming.rankOf(Number(index)))
    .replace(identities, (identity, ...rest) => {
      const groups = rest.at(-1) as Readonly<Record<string, string | undefined>>;
      const kind = Object.keys(groups).find((name) => groups[name] !== undefined) ?? '';
      return identity === noId ? identity : naming.tokenOf(kind, identity);
    })
    .replace(/(?<=\bindex:? )\d+/g, (index) => (index === '0' ? '0' : naming.rankOf(Number(index))))
    .replace(moment, momentWord)
    .replace(brokenDuration, '<duration>')
    .replace(folderOfAllocation, '<folder>/')
    .replace(address, (_, _ip, port) => (port === undefined ? '<ip>' : '<address>'));
}

/** Numbers the identities of each kind as they are asked for. */
function tokens(): Naming['tokenOf'] {
  const kinds = new Map<string, Map<string, number>>();
  return (kind, identity) => {
    const known = kinds.get(kind) ?? new Map<string, number>();
    kinds.set(kind, known);
    if (!known.has(identity)) known.set(identity, known.size + 1);
    return `<${kind}:${known.get(identity)}>`;
  };
}
