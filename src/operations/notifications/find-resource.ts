import { err, ok, type Result } from 'neverthrow';
import { allowsKind, allowsWorkspace } from '../../access/allows.js';
import type { Principal, WorkspaceRight } from '../../access/principal.js';
import { configurations, type NotificationConfiguration } from '../../notifications/configurations/configuration.js';
import { type Delivery, positionFromDeliveryId, sequenceFromId } from '../../notifications/delivery/delivery.js';
import { freshDelivery } from '../../notifications/delivery/transition-delivery.js';
import type { NotFound } from '../../notifications/errors.js';
import { events, type StoredEvent } from '../../notifications/events/event.js';
import { type Workspace, workspaces } from '../../notifications/workspace.js';
import type { ReadView } from '../../ports/storage.js';
import { deliveryOf } from '../records/delivery-rows.js';
import { mayManage } from '../records/earlier-workspace.js';

/*
 * Finds and authorises in one step: a resource that the caller may not manage gives the same error as a missing one
 * (notification interface, Errors).
 */

export function findWorkspace(
  view: ReadView,
  caller: Principal,
  id: string,
  right: WorkspaceRight | 'any' = 'portal',
): Result<Workspace, NotFound> {
  const workspace = allowsWorkspace(caller, id, right) ? view.get(workspaces, [id])?.record : undefined;
  return workspace === undefined ? err({ type: 'not_found', resource: 'workspace', id }) : ok(workspace);
}

interface FoundConfiguration {
  readonly configuration: NotificationConfiguration;
  readonly workspace: Workspace;
}

export function findConfiguration(view: ReadView, caller: Principal, id: string): Result<FoundConfiguration, NotFound> {
  const found = view.get(configurations, [id])?.record;
  const configuration = found !== undefined && allowsKind(caller, found.workspaceId, found.kind) ? found : undefined;
  const workspace =
    configuration === undefined
      ? undefined
      : findWorkspace(view, caller, configuration.workspaceId).unwrapOr(undefined);
  return configuration === undefined || workspace === undefined
    ? err({ type: 'not_found', resource: 'notification_configuration', id })
    : ok({ configuration, workspace });
}

/** The configurations of a workspace that exist for the caller. */
export function visibleConfigurations(
  view: ReadView,
  caller: Principal,
  workspaceId: string,
): NotificationConfiguration[] {
  return view
    .list(configurations, { index: 'by_workspace', prefix: [workspaceId] })
    .flatMap(({ record }) => (allowsKind(caller, workspaceId, record.kind) ? record : []));
}

/** A delivery with its event, which is kept at least as long. */
interface FoundDelivery {
  readonly delivery: Delivery;
  /** Whether it has a row; otherwise it is derived from its event. */
  readonly stored: boolean;
  readonly event: StoredEvent;
}

export function findDelivery(
  view: ReadView,
  caller: Principal,
  id: string,
  ordered: boolean,
): Result<FoundDelivery, NotFound> {
  const found = deliveryWithId(view, id, ordered);
  const { kind = '', workspaceId = '' } = found?.delivery ?? {};
  return found !== undefined && mayManage(view, caller, found.delivery) && allowsKind(caller, workspaceId, kind)
    ? ok(found)
    : err({ type: 'not_found', resource: 'notification_delivery', id });
}

function deliveryWithId(view: ReadView, id: string, ordered: boolean): FoundDelivery | undefined {
  const sequence = sequenceFromId(id);
  const position = positionFromDeliveryId(id);
  if (sequence === null || position === null) return undefined;
  const event = view.get(events, [sequence])?.record;
  if (event?.notified[position] === undefined) return undefined;
  const row = deliveryOf(view, event, position);
  const delivery = row ?? freshDelivery(event, position, ordered);
  return delivery.id === id ? { delivery, stored: row !== undefined, event } : undefined;
}
