import { err, ok, type Result } from 'neverthrow';
import { parseDurationNanos } from '../../shared/duration.js';
import { isBase64, isRecord } from '../../shared/values.js';
import { type Block, type Field, type FieldKind, type FieldSet, submittedFields } from './field-table.js';
import { jobBlock } from './job.js';
import { fastShape, type ShapeCopier, shapeCopier } from './stored-form.js';
import type { SubmittedJob } from './submitted-job.js';

/** The submitted form of a block without any given field. */
export function emptyBlock(block: Block<FieldSet>): Record<string, unknown> {
  const { copy, template } = compileBlock(block);
  return copy(template);
}

type Template = Record<string, unknown>;

interface CompiledField {
  readonly name: string;
  readonly kind: FieldKind;
  readonly unset: unknown;
  readonly min: number;
  readonly max: number;
  readonly block: CompiledBlock | undefined;
}

interface CompiledBlock {
  readonly template: Template;
  readonly copy: ShapeCopier;
  /** By exact name and by lower-case name. */
  readonly byName: ReadonlyMap<string, CompiledField>;
}

const compiledBlocks = new WeakMap<Block<FieldSet>, CompiledBlock>();

/** Compiled on first use, so that a process that reads no job starts faster. */
function compileBlock(block: Block<FieldSet>): CompiledBlock {
  const known = compiledBlocks.get(block);
  if (known !== undefined) return known;
  const template: Template = {};
  const byName = new Map<string, CompiledField>();
  for (const [name, field] of submittedFields(block)) {
    const compiled = compileField(name, field);
    if (field.absentWhenUnset !== true) template[name] = compiled.unset;
    byName.set(name, compiled);
    byName.set(name.toLowerCase(), compiled);
  }
  const compiled: CompiledBlock = { template: fastShape(template), copy: shapeCopier(), byName };
  compiledBlocks.set(block, compiled);
  return compiled;
}

function compileField(name: string, field: Field<unknown, unknown>): CompiledField {
  return {
    name,
    kind: field.kind,
    unset: field.unset,
    min: field.bounds?.min ?? 0,
    max: field.bounds?.max ?? 0,
    block: field.block === undefined ? undefined : compileBlock(field.block),
  };
}

/** An invalid job document: position, expected and actual value. */
export interface DecodeError {
  readonly type: 'invalid_document';
  /** For example `Job.TaskGroups[0].Count`. */
  readonly path: string;
  /** The expected value. */
  readonly expected: string;
  /** The actual value. */
  readonly got: string;
  readonly message: string;
}

/**
 * Nesting of free-form values; elements of lists and entries of maps, elements that are blocks, and task groups in the whole document:
 * more than any job needs, and few enough that the work for one request stays within one turn of some hundred milliseconds.
 */
const maximumDepth = 100;
const maximumValues = 50_000;
const maximumBlocks = 10_000;
const maximumGroups = 1_000;

/** How a document is read. */
export interface DecodeOptions {
  /** Reads durations that are written as strings too, such as `30s`. The wire's durations are numbers only. */
  readonly durationTexts?: boolean;
}

/**
 * Reads a submitted job from parsed JSON (job interface, request bodies): keys match without regard to case, unknown keys
 * are ignored, null means "not given", durations are whole nanoseconds. The answer is a deep copy with every key of the
 * table present. Only shapes are checked here; `validateJob` checks the meaning.
 */
export function decodeJob(input: unknown, options: DecodeOptions = {}): Result<SubmittedJob, DecodeError> {
  const reading: Reading = {
    remaining: maximumValues,
    remainingBlocks: maximumBlocks,
    failure: undefined,
    durationTexts: options.durationTexts === true,
  };
  const job = readJob(reading, input);
  if (job !== undefined) return ok(job);
  const { expected, got, path } = reading.failure as Failure;
  const where = pathText(path.reverse());
  return err({
    type: 'invalid_document',
    path: where,
    expected,
    got,
    message: `${where}: expected ${expected}, got ${got}`,
  });
}

interface Failure {
  readonly expected: string;
  readonly got: string;
  /** From the innermost step outwards. */
  readonly path: (string | number)[];
}

interface Reading {
  remaining: number;
  remainingBlocks: number;
  failure: Failure | undefined;
  readonly durationTexts: boolean;
}

// Every reader returns undefined after it has set `reading.failure`; JSON has no undefined, so this is unambiguous. The
// callers add their step to the path on the way out, so a good document never builds a path.

function readJob(reading: Reading, input: unknown): SubmittedJob | undefined {
  const job = readBlock(reading, compileBlock(jobBlock), input) as unknown as SubmittedJob | undefined;
  const groups = job?.TaskGroups?.length ?? 0;
  if (groups <= maximumGroups) return job;
  fail(reading, `at most ${maximumGroups} task groups`, groups);
  return step(reading, 'TaskGroups');
}

function readBlock(reading: Reading, block: CompiledBlock, input: unknown): Template | undefined {
  if (!isRecord(input)) return fail(reading, 'an object', input);
  const out: Template = block.copy(block.template);
  const { byName } = block;
  for (const key in input) {
    const field = byName.get(key) ?? byName.get(key.toLowerCase());
    if (field === undefined) continue;
    const raw = input[key];
    if (raw === null || raw === undefined) {
      if (field.name in out) out[field.name] = field.unset;
      continue;
    }
    // Strings are by far the most frequent kind, so they skip the dispatch by kind.
    const value = typeof raw === 'string' && field.kind === 'string' ? raw : readField(reading, field, raw);
    if (value === undefined) return step(reading, field.name);
    out[field.name] = value;
  }
  return out;
}

function readField(reading: Reading, field: CompiledField, raw: unknown): unknown {
  switch (field.kind) {
    case 'string':
      return typeof raw === 'string' ? raw : fail(reading, 'a string', raw);
    case 'integer':
      return readInteger(reading, field, raw);
    case 'duration':
      return typeof raw === 'string' && reading.durationTexts
        ? readDurationText(reading, raw)
        : readInteger(reading, field, raw);
    case 'boolean':
      return typeof raw === 'boolean' ? raw : fail(reading, 'true or false', raw);
    case 'block':
      return readBlock(reading, field.block as CompiledBlock, raw);
    case 'blocks':
      return readBlocks(reading, field.block as CompiledBlock, raw);
    case 'block_map':
      return readMap(reading, raw, (element) =>
        spendBlocks(reading, 1) ? readBlock(reading, field.block as CompiledBlock, element ?? {}) : undefined,
      );
    case 'strings':
      return readStrings(reading, raw);
    case 'string_map':
      return readStringMap(reading, raw);
    case 'string_list_map':
      return readMap(reading, raw, (element) => readStrings(reading, element ?? []));
    case 'integers':
      return readList(reading, raw, (element) => readInteger(reading, field, element));
    case 'free_form':
      return readMap(reading, raw, (element) => readFreeForm(reading, element, 1));
    case 'base64':
      return readBase64(reading, raw);
  }
}

function readString(reading: Reading, raw: unknown): string | undefined {
  if (typeof raw === 'string') return raw;
  return raw === null ? '' : fail(reading, 'a string', raw);
}

function readInteger(reading: Reading, field: CompiledField, raw: unknown): number | undefined {
  if (typeof raw === 'number' && Number.isInteger(raw) && raw >= field.min && raw <= field.max) return raw;
  if (typeof raw === 'number' && Number.isInteger(raw)) {
    return fail(reading, `a whole number from ${field.min} to ${field.max}`, raw);
  }
  return fail(reading, field.kind === 'duration' ? 'whole nanoseconds (a number)' : 'a whole number', raw);
}

function readDurationText(reading: Reading, raw: string): number | undefined {
  const nanos = parseDurationNanos(raw);
  return nanos.isOk() ? Number(nanos.value) : fail(reading, 'a duration such as "30s" or "1h30m"', raw);
}

/** Line breaks, which many programs insert, are removed. */
function readBase64(reading: Reading, raw: unknown): string | undefined {
  if (typeof raw !== 'string') return fail(reading, 'base64 text', raw);
  const text = raw.replace(/[\r\n]+/g, '');
  return isBase64(text) ? text : fail(reading, 'padded standard base64 text', raw);
}

// The three most frequent shapes have separate loops: a shared one with a callback would double the cost.

function readBlocks(reading: Reading, block: CompiledBlock, raw: unknown): Template[] | undefined {
  if (!Array.isArray(raw)) return fail(reading, 'a list', raw);
  if (!spend(reading, raw.length) || !spendBlocks(reading, raw.length)) return undefined;
  const out: Template[] = [];
  for (let index = 0; index < raw.length; index++) {
    const value = readBlock(reading, block, raw[index] ?? {});
    if (value === undefined) return step(reading, index);
    out.push(value);
  }
  return out;
}

function readStrings(reading: Reading, raw: unknown): string[] | undefined {
  if (!Array.isArray(raw)) return fail(reading, 'a list', raw);
  if (!spend(reading, raw.length)) return undefined;
  const out: string[] = [];
  for (let index = 0; index < raw.length; index++) {
    const value = readString(reading, raw[index]);
    if (value === undefined) return step(reading, index);
    out.push(value);
  }
  return out;
}

function readStringMap(reading: Reading, raw: unknown): Record<string, string> | undefined {
  if (!isRecord(raw)) return fail(reading, 'an object', raw);
  const keys = Object.keys(raw);
  if (!spend(reading, keys.length)) return undefined;
  const out: Record<string, string> = {};
  for (const key of keys) {
    if (key === '__proto__') return fail(reading, notPrototype, key);
    const value = readString(reading, raw[key]);
    if (value === undefined) return step(reading, key);
    out[key] = value;
  }
  return out;
}

/** Such a key would set the copy's prototype wherever it is copied by assignment. */
const notPrototype = 'a key other than __proto__';

function readList<T>(
  reading: Reading,
  raw: unknown,
  readElement: (element: unknown) => T | undefined,
): T[] | undefined {
  if (!Array.isArray(raw)) return fail(reading, 'a list', raw);
  if (!spend(reading, raw.length)) return undefined;
  const out: T[] = [];
  for (let index = 0; index < raw.length; index++) {
    const value = readElement(raw[index]);
    if (value === undefined) return step(reading, index);
    out.push(value);
  }
  return out;
}

function readMap<T>(
  reading: Reading,
  raw: unknown,
  readElement: (element: unknown) => T | undefined,
): Record<string, T> | undefined {
  if (!isRecord(raw)) return fail(reading, 'an object', raw);
  const keys = Object.keys(raw);
  if (!spend(reading, keys.length)) return undefined;
  const out: Record<string, T> = {};
  for (const key of keys) {
    if (key === '__proto__') return fail(reading, notPrototype, key);
    const value = readElement(raw[key]);
    if (value === undefined) return step(reading, key);
    out[key] = value;
  }
  return out;
}

function readFreeForm(reading: Reading, raw: unknown, depth: number): unknown {
  if (typeof raw === 'string' || typeof raw === 'boolean' || raw === null) return raw;
  if (typeof raw === 'number') return Number.isFinite(raw) ? raw : fail(reading, 'a finite number', raw);
  if (depth >= maximumDepth) return fail(reading, `nesting of at most ${maximumDepth}`, raw);
  if (Array.isArray(raw)) return readList(reading, raw, (element) => readFreeForm(reading, element, depth + 1));
  return readMap(reading, raw, (element) => readFreeForm(reading, element, depth + 1));
}

function spend(reading: Reading, values: number): boolean {
  reading.remaining -= values;
  if (reading.remaining >= 0) return true;
  fail(reading, `at most ${maximumValues} values in the document`, 'more');
  return false;
}

function spendBlocks(reading: Reading, blocks: number): boolean {
  reading.remainingBlocks -= blocks;
  if (reading.remainingBlocks >= 0) return true;
  fail(reading, `at most ${maximumBlocks} blocks in the document`, 'more');
  return false;
}

function fail(reading: Reading, expected: string, raw: unknown): undefined {
  reading.failure = { expected, got: describe(raw), path: [] };
  return undefined;
}

function step(reading: Reading, part: string | number): undefined {
  reading.failure?.path.push(part);
  return undefined;
}

/** The kind of the value, and the value itself only when it is a number: strings may be secrets. */
function describe(raw: unknown): string {
  if (raw === null) return 'null';
  if (Array.isArray(raw)) return 'a list';
  if (typeof raw === 'number') return `the number ${raw}`;
  if (typeof raw === 'boolean') return `${raw}`;
  if (typeof raw === 'object') return 'an object';
  return raw === undefined ? 'nothing' : `a ${typeof raw}`;
}

function pathText(path: readonly (string | number)[]): string {
  let text = 'Job';
  for (const part of path) {
    if (typeof part === 'number') text += `[${part}]`;
    else text += /^\w{1,64}$/.test(part) ? `.${part}` : `[${JSON.stringify(part.slice(0, 64))}]`;
  }
  return text;
}
