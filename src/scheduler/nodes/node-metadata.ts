import { err, ok, type Result } from 'neverthrow';
import { madeOnce } from '../../shared/remembered.js';
import { table } from '../../shared/table.js';
import { type NodeRefused, nodeRefused } from './node-errors.js';

/** Null hides a value that the agent reports. */
export type DynamicMeta = Readonly<Record<string, string | null>>;

/**
 * Metadata that operators have added to a node, and the last metadata from its agent. Nodes without added metadata have no row.
 */
export interface StoredNodeMetadata {
  readonly ID: string;
  readonly Static: Readonly<Record<string, string>>;
  readonly Dynamic: DynamicMeta;
}

export const nodeMetadata = table<StoredNodeMetadata>('node_metadata', ({ ID }) => [ID]);

/** A node's metadata as the interface shows it: the effective values and their sources. */
export interface NodeMetadata {
  /** The effective values. */
  readonly Meta: Readonly<Record<string, string>>;
  /** Values that operators have set over the interface; null hides the agent's value. */
  readonly Dynamic: DynamicMeta;
  /** What the agent reports. */
  readonly Static: Readonly<Record<string, string>>;
}

const mostNames = 256;
const longestValue = 4096;
const longestName = 128;
/** Names that a constraint can refer to as `${meta.NAME}`: identifiers of the configuration language, joined by dots. */
const nameForm = madeOnce(() => /^[\p{ID_Start}_][\p{ID_Continue}-]*(?:\.[\p{ID_Start}_][\p{ID_Continue}-]*)*$/u);

export function mergedMeta(
  reported: Readonly<Record<string, string>>,
  dynamic: DynamicMeta,
): Readonly<Record<string, string>> {
  const all: (readonly [string, string | null])[] = [...Object.entries(reported), ...Object.entries(dynamic)];
  return Object.fromEntries([...new Map(all)].filter((entry): entry is [string, string] => entry[1] !== null));
}

/** Applies a change: a value sets a name, null removes a set value and hides the agent's. */
export function decideNodeMetadata(
  before: StoredNodeMetadata,
  changes: DynamicMeta,
): Result<StoredNodeMetadata, NodeRefused> {
  if (Object.keys(changes).length === 0) return err(refused('no metadata name given'));
  for (const [name, value] of Object.entries(changes)) {
    if (name.length > longestName || !nameForm().test(name))
      return err(
        refused(
          `invalid metadata name ${JSON.stringify(name.slice(0, 40))}: use identifiers joined by dots, at most ${longestName} characters`,
        ),
      );
    if ((value ?? '').length > longestValue) {
      return err(refused(`the value of metadata ${name} is longer than ${longestValue} characters`));
    }
  }
  const entries = [...new Map([...Object.entries(before.Dynamic), ...Object.entries(changes)])];
  const kept = entries.filter(([name, value]) => value !== null || Object.hasOwn(before.Static, name));
  if (kept.length > mostNames)
    return err(refused(`a node has at most ${mostNames} metadata names besides those of its agent`));
  return ok({ ...before, Dynamic: Object.fromEntries(kept) });
}

function refused(message: string): NodeRefused {
  return nodeRefused('metadata', message);
}
