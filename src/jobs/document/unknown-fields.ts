import { suggestName } from '../../hcl/diagnostics/suggest.js';
import { quoted } from '../../shared/values.js';
import { type Block, type Field, type FieldSet, submittedFields } from './field-table.js';
import { jobBlock } from './job.js';

/** An unknown key of a submitted document. */
export interface UnknownField {
  /** For example `Job.TaskGroups[0].Contraints`. */
  readonly path: string;
  /** The field that was probably meant. */
  readonly suggestion?: string;
  readonly message: string;
}

/** The most fields that are reported. */
const mostReported = 20;
/** The most keys that are checked; a larger document was not written by hand. */
const mostChecked = 100_000;

/**
 * The keys of a submitted document that its table does not know, the first 20: the document is accepted without them, as
 * existing clients expect, so a typing error would go unnoticed. Free-form blocks have no unknown keys.
 */
export function unknownFields(input: unknown): UnknownField[] {
  const search: Search = { found: [], left: mostChecked };
  searchBlock(search, jobBlock, input, 'Job');
  return search.found;
}

interface Search {
  readonly found: UnknownField[];
  left: number;
}

function searchBlock(search: Search, block: Block<FieldSet>, input: unknown, path: string): void {
  if (typeof input !== 'object' || input === null || Array.isArray(input)) return;
  const fields = fieldsByName(block);
  for (const [key, value] of Object.entries(input)) {
    search.left -= 1;
    if (search.found.length >= mostReported || search.left < 0) return;
    const field = fields.get(key.toLowerCase());
    if (field === undefined) search.found.push(unknownField(block, key, path));
    else searchField(search, field, value, `${path}.${key}`);
  }
}

function searchField(search: Search, { kind, block }: Field<unknown, unknown>, value: unknown, path: string): void {
  if (block === undefined) return;
  if (kind === 'block') searchBlock(search, block, value, path);
  else if (Array.isArray(value)) {
    for (const [at, element] of value.entries()) searchBlock(search, block, element, `${path}[${at}]`);
  } else if (typeof value === 'object' && value !== null) {
    for (const [label, element] of Object.entries(value))
      searchBlock(search, block, element, `${path}[${quoted(label)}]`);
  }
}

function unknownField(block: Block<FieldSet>, key: string, path: string): UnknownField {
  const names = submittedFields(block).map(([name]) => name);
  const byLowerCase = new Map(names.map((name) => [name.toLowerCase(), name]));
  const suggestion = byLowerCase.get(suggestName(key.toLowerCase(), byLowerCase.keys()) ?? '');
  const location = /^\w{1,64}$/.test(key) ? `${path}.${key}` : `${path}[${quoted(key)}]`;
  if (suggestion === undefined)
    return { path: location, message: `${location} is not a field of a job and has no effect` };
  return {
    path: location,
    suggestion,
    message: `${location} is not a field of a job and has no effect; did you mean ${suggestion}?`,
  };
}

const known = new WeakMap<Block<FieldSet>, ReadonlyMap<string, Field<unknown, unknown>>>();

/** By lower-case name. */
function fieldsByName(block: Block<FieldSet>): ReadonlyMap<string, Field<unknown, unknown>> {
  const present = known.get(block);
  if (present !== undefined) return present;
  const fields = new Map(submittedFields(block).map(([name, field]) => [name.toLowerCase(), field]));
  known.set(block, fields);
  return fields;
}
