import { err, ok, type Result } from 'neverthrow';
import { allowsWorkspace } from '../../access/allows.js';
import type { Principal, WorkspaceRight } from '../../access/principal.js';
import { configurations, type NotificationConfiguration } from '../../notifications/configuration.js';
import { type Delivery, deliveries } from '../../notifications/delivery.js';
import type { NotFound } from '../../notifications/errors.js';
import { type Workspace, workspaces } from '../../notifications/workspace.js';
import type { ReadView } from '../../ports/storage.js';

/*
 * Finding and authorising are one step here: what a caller may not administer does not exist for him (notification
 * interface, Errors), so no answer can tell the two apart.
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

export interface FoundConfiguration {
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

export function findDelivery(view: ReadView, caller: Principal, id: string): Result<Delivery, NotFound> {
  const delivery = view.get(deliveries, [id])?.record;
  return delivery === undefined || !allowsWorkspace(caller, delivery.workspaceId, 'admin')
    ? err({ type: 'not_found', resource: 'notification_delivery', id })
    : ok(delivery);
}
