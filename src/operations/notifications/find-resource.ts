import { err, ok, type Result } from 'neverthrow';
import { allowsWorkspace } from '../../access/allows.js';
import type { Principal, WorkspaceRight } from '../../access/principal.js';
import { configurations, type NotificationConfiguration } from '../../notifications/configurations/configuration.js';
import { type Delivery, positionFromDeliveryId, sequenceFromId } from '../../notifications/delivery/delivery.js';
import { freshDelivery } from '../../notifications/delivery/transition-delivery.js';
import type { NotFound } from '../../notifications/errors.js';
import { events, type StoredEvent } from '../../notifications/events/event.js';
import { type Workspace, workspaces } from '../../notifications/workspace.js';
import type { ReadView } from '../../ports/storage.js';
import { deliveryOf } from '../records/delivery-rows.js';
import { mayAdminister } from '../records/earlier-workspace.js';

/*
 * Finds and authorises in one step: a resource that the caller may not administer gives the same error as a missing one
 * (notification interface, Errors).
 */

export function findWorkspace(
  view: ReadView,
  caller: Principal,
  id: string,
  right: WorkspaceRight = 'admin',
): Result<Workspace, NotFound> {
  const workspace = allowsWorkspace(caller, id, right) ? view.get(workspaces, [id])?.record : undefined;
  return workspace === undefined ? err({ type: 'not_found', resource: 'workspace', id }) : ok(workspace);
}

interface FoundConfiguration {
  readonly configuration: NotificationConfiguration;
  readonly workspace: Workspace;
}

export function findConfiguration(view: ReadView, caller: Principal, id: string): Result<FoundConfiguration, NotFound> {
  const configuration = view.get(configurations, [id])?.record;
  const workspace =
    configuration === undefined
      ? undefined
      : findWorkspace(view, caller, configuration.workspaceId).unwrapOr(undefined);
  return configuration === undefined || workspace === undefined
    ? err({ type: 'not_found', resource: 'notification_configuration', id })
    : ok({ configuration, workspace });
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
  return found === undefined || !mayAdminister(view, caller, found.delivery)
    ? err({ type: 'not_found', resource: 'notification_delivery', id })
    : ok(found);
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
