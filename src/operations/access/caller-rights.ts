import type { ResultAsync } from 'neverthrow';
import { allows, allowsArea, allowsNodePool, allowsWorkspace } from '../../access/allows.js';
import { type Capability, namespaceCapabilities } from '../../access/capability.js';
import { type Area, areas, type NodePoolCapability, nodePoolCapabilities } from '../../access/policy/parse-policy.js';
import type { Principal, WorkspaceRight } from '../../access/principal.js';
import { namespaces } from '../../jobs/namespaces/namespace.js';
import { workspaces } from '../../notifications/workspace.js';
import type { ReadView, StorageError } from '../../ports/storage.js';
import { nodePools } from '../../scheduler/node-pool.js';
import { isoFromInstant } from '../../shared/instant.js';
import type { EngineContext } from '../context/engine-context.js';
import { rightsTables } from '../records/caller-standing.js';
import { listNodePools, namespaceNames } from '../records/declared-rows.js';
import { answerQuery, type MayWait } from '../waiting/blocking-query.js';
import type { Answer } from '../waiting/parked-queries.js';

/** What the caller is and may do, by the names that exist: the rights that calls check. */
export interface CallerRights {
  /** As people know the caller; empty for the host and for callers without a token. */
  readonly name: string;
  /** Of the token; empty for the host and for callers without a token. */
  readonly accessor: string;
  /** Whether everything is allowed. */
  readonly management: boolean;
  /** The capabilities in each namespace, of those in which the caller has any. */
  readonly namespaces: Readonly<Record<string, readonly Capability[]>>;
  /** The highest right in each area. */
  readonly areas: Readonly<Partial<Record<Area, 'list' | 'read' | 'write'>>>;
  readonly nodePools: Readonly<Record<string, readonly NodePoolCapability[]>>;
  readonly workspaces: Readonly<Record<string, { readonly name: string; readonly right: WorkspaceRight }>>;
  /** Whether there are more namespaces, pools or workspaces than are listed: 1,000 of each. */
  readonly isCut: boolean;
  readonly region: string;
  /** The time of the server, RFC 3339. */
  readonly now: string;
}

const mostNames = 1000;

/** The rights of the caller; waits until they, or the names that they are for, change. */
export function readCallerRights(
  context: EngineContext,
  caller: Principal,
  { waiting }: MayWait,
): ResultAsync<Answer<CallerRights>, StorageError> {
  const tables = [namespaces, nodePools, workspaces, ...rightsTables];
  const query = {
    key: JSON.stringify(['caller-rights', caller]),
    tables,
    run: (view: ReadView) => ({
      index: Math.max(...tables.map((table) => view.tableIndex(table))),
      value: rightsOf(context, view, caller),
    }),
  };
  return answerQuery(context, query, waiting);
}

function rightsOf({ clock, settings }: EngineContext, view: ReadView, caller: Principal): CallerRights {
  const spaces = namespaceNames(view);
  const pools = listNodePools(view, '').map(({ Name }) => Name);
  const rooms = view.list(workspaces).flatMap(({ record: { id, name } }) => {
    const right = (['admin', 'portal', 'events'] as const).find((each) => allowsWorkspace(caller, id, each));
    return right === undefined ? [] : [[id, { name, right }] as const];
  });
  return {
    name: caller.name,
    accessor: caller.accessor,
    management: caller.management,
    namespaces: granted(
      spaces,
      namespaceCapabilities,
      (name, right) => right !== 'deny' && allows(caller, name, [right]),
    ),
    areas: Object.fromEntries(
      areas.flatMap((area) => {
        const level = (['write', 'read', 'list'] as const).find((right) => allowsArea(caller, area, right));
        return level === undefined ? [] : [[area, level]];
      }),
    ),
    nodePools: granted(
      pools,
      nodePoolCapabilities,
      (name, right) => right !== 'deny' && allowsNodePool(caller, name, right),
    ),
    workspaces: Object.fromEntries(rooms.slice(0, mostNames)),
    isCut: Math.max(spaces.length, pools.length, rooms.length) > mostNames,
    region: settings.jobs.region,
    now: isoFromInstant(clock.now()),
  };
}

/** The rights for each name, of the names with any. */
function granted<R extends string>(
  names: readonly string[],
  rights: readonly R[],
  has: (name: string, right: R) => boolean,
): Readonly<Record<string, readonly R[]>> {
  const of = (name: string): readonly R[] => rights.filter((right) => has(name, right));
  const all = names.slice(0, mostNames).map((name) => [name, of(name)] as const);
  return Object.fromEntries(all.filter(([, some]) => some.length > 0));
}
