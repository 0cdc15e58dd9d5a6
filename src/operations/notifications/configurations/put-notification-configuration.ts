import { err, ok, ResultAsync } from 'neverthrow';
import type { Principal } from '../../../access/principal.js';
import { configurations } from '../../../notifications/configurations/configuration.js';
import { decideUpdate } from '../../../notifications/configurations/decide-configuration.js';
import { users } from '../../../notifications/user.js';
import type { EngineContext } from '../../context/engine-context.js';
import { findWorkspace } from '../find-resource.js';
import { type ConfigurationView, viewConfiguration } from './configuration-view.js';
import {
  type CreateConfigurationError,
  type CreateConfigurationRequest,
  createNotificationConfiguration,
} from './create-notification-configuration.js';
import { mailObstacle } from './mail-obstacle.js';
import {
  contentsOf,
  type UpdateConfigurationError,
  updateNotificationConfiguration,
} from './update-notification-configuration.js';

/** Why `putNotificationConfiguration` stores nothing. */
export type PutConfigurationError = CreateConfigurationError | UpdateConfigurationError;

type Present =
  | { readonly type: 'absent' }
  | { readonly type: 'as_stated'; readonly view: ConfigurationView }
  | { readonly type: 'other'; readonly id: string };

/**
 * Creates the configuration of this name in the workspace, or changes it into what is stated, so that a service can declare its
 * configurations at every start. One that is as stated already is neither written nor verified. Of several with the same
 * name the oldest is meant.
 */
export function putNotificationConfiguration(
  context: EngineContext,
  caller: Principal,
  request: CreateConfigurationRequest,
): ResultAsync<ConfigurationView, PutConfigurationError> {
  return new ResultAsync(put(context, caller, request));
}

async function put(context: EngineContext, caller: Principal, request: CreateConfigurationRequest) {
  const read = await context.storage.read((view) =>
    findWorkspace(view, caller, request.workspaceId).map((workspace): Present => {
      const rows = view.list(configurations, { index: 'by_workspace', prefix: [workspace.id] });
      const present = rows.find(({ record }) => record.name === request.attributes.name)?.record;
      if (present === undefined) return { type: 'absent' };
      const before = contentsOf(context, present);
      const surroundings = {
        organization: workspace.organization,
        findUser: (userId: string) => view.get(users, [userId])?.record,
        checkUrl: (url: string) => context.delivery.check(url),
        mailObstacle: mailObstacle(context),
      };
      const rules = context.settings.notifications;
      const stated = decideUpdate(before, request, surroundings, rules);
      const same = stated.isOk() && JSON.stringify(stated.value.contents) === JSON.stringify(before);
      return same
        ? { type: 'as_stated', view: viewConfiguration(context, view, present, workspace) }
        : { type: 'other', id: present.id };
    }),
  );
  const found = read.andThen((it) => it);
  if (found.isErr()) return err<ConfigurationView, PutConfigurationError>(found.error);
  const { attributes, faults = [] } = request;
  switch (found.value.type) {
    case 'absent':
      return await createNotificationConfiguration(context, caller, request);
    case 'as_stated':
      return ok<ConfigurationView, PutConfigurationError>(found.value.view);
    case 'other':
      return await updateNotificationConfiguration(context, caller, {
        configurationId: found.value.id,
        attributes,
        faults,
      });
  }
}
