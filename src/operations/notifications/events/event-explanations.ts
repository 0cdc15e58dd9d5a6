import { allowsKind } from '../../../access/allows.js';
import type { Principal } from '../../../access/principal.js';
import { configurations } from '../../../notifications/configurations/configuration.js';
import type { StoredEvent } from '../../../notifications/events/event.js';
import { type Explanation, explain } from '../../../notifications/explain.js';
import { workspaces } from '../../../notifications/workspace.js';
import type { ReadView } from '../../../ports/storage.js';
import { firstSequenceIn } from '../../records/earlier-workspace.js';
import { visibleConfigurations } from '../find-resource.js';

/** For each current configuration of the workspace, whether it would be notified now; empty for a sample, and for an event of a removed workspace. */
export function explanationsNow(view: ReadView, caller: Principal, event: StoredEvent): Explanation[] {
  const { workspaceId, sequence, sample } = event;
  const workspace = view.get(workspaces, [workspaceId])?.record;
  if (workspace === undefined || sample === true || sequence < firstSequenceIn(view, workspaceId)) return [];
  return explain(event.event, workspace, visibleConfigurations(view, caller, workspaceId));
}

/** For each configuration of then, whether it was notified; null for a sample, and for an event that an earlier version has accepted. */
export function explanationsThen(view: ReadView, caller: Principal, event: StoredEvent): Explanation[] | null {
  const { workspaceId, notified, missed } = event;
  if (missed === undefined) return null;
  const nameOf = (id: string): string => view.get(configurations, [id])?.record.name ?? id;
  const fired = notified.map(({ id, kind, name = nameOf(id) }) => ({ id, kind, name, obstacles: [] }));
  return [...fired, ...missed]
    .filter(({ kind = 'generic' }) => allowsKind(caller, workspaceId, kind))
    .map(({ id, name, obstacles }) => ({ configurationId: id, name, fires: obstacles.length === 0, obstacles }));
}
