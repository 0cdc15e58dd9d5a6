import { err, ok, type Result } from 'neverthrow';
import { madeOnce } from '../../shared/remembered.js';
import { table } from '../../shared/table.js';
import { type NodeRefused, nodeRefused } from './node-errors.js';

/** Null hides a value that the agent reports. */
export type DynamicMeta = Readonly<Record<string, string | null>>;

/**
 * Meta that operators have added to a node, and the meta that its agent reported last. Nodes without added meta have no row.
 */
export interface StoredNodeMetadata {
  readonly ID: string;
  readonly Static: Readonly<Record<string, string>>;
  readonly Dynamic: DynamicMeta;
}

export const nodeMetadata = table<StoredNodeMetadata>('node_metadata', ({ ID }) => [ID]);

/** The meta of a node in answers: the effective values and their sources. */
export interface NodeMetadata {
  /** What is in force. */
  readonly Meta: Readonly<Record<string, string>>;
  /** What operators have set over the interface; null hides what the agent reports. */
  readonly Dynamic: DynamicMeta;
  /** What the agent reports. */
  readonly Static: Readonly<Record<string, string>>;
}

const mostNames = 256;
const longestValue = 4096;
const longestName = 128;
/** What a constraint can name, `${meta.NAME}`: identifiers of the configuration language, with dots between them. */
const nameForm = madeOnce(() => /^[\p{ID_Start}_][\p{ID_Continue}-]*(?:\.[\p{ID_Start}_][\p{ID_Continue}-]*)*$/u);

export function mergedMeta(
  told: Readonly<Record<string, string>>,
  dynamic: DynamicMeta,
): Readonly<Record<string, string>> {
  const all: (readonly [string, string | null])[] = [...Object.entries(told), ...Object.entries(dynamic)];
  return Object.fromEntries([...new Map(all)].filter((entry): entry is [string, string] => entry[1] !== null));
}

/** The row after a change: a value sets a name, null removes what was set and hides what the agent reports. */
export function decideNodeMetadata(
  before: StoredNodeMetadata,
  changes: DynamicMeta,
): Result<StoredNodeMetadata, NodeRefused> {
  if (Object.keys(changes).length === 0) return err(refused('no name of meta is given'));
  for (const [name, value] of Object.entries(changes)) {
    if (name.length > longestName || !nameForm().test(name))
      return err(refused(`the name ${JSON.stringify(name.slice(0, 40))} cannot be one of meta`));
    if ((value ?? '').length > longestValue) {
      return err(refused(`the value of ${name} is longer than ${longestValue} characters`));
    }
  }
  const entries = [...new Map([...Object.entries(before.Dynamic), ...Object.entries(changes)])];
  const kept = entries.filter(([name, value]) => value !== null || Object.hasOwn(before.Static, name));
  if (kept.length > mostNames)
    return err(refused(`a node has at most ${mostNames} names of meta beside those of its agent`));
  return ok({ ...before, Dynamic: Object.fromEntries(kept) });
}

function refused(message: string): NodeRefused {
  return nodeRefused('metadata', message);
}
