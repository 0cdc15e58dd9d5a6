import { err, ok, type Result, ResultAsync } from 'neverthrow';
import type { Principal } from '../../../access/principal.js';
import { decideUpdate } from '../../../notifications/configurations/decide-configuration.js';
import type { Conflict } from '../../../notifications/errors.js';
import { users } from '../../../notifications/workspace.js';
import { type EngineContext, readResult } from '../../context/engine-context.js';
import { findWorkspace, visibleConfigurations } from '../find-resource.js';
import { type ConfigurationView, viewConfiguration } from './configuration-view.js';
import {
  type CreateConfigurationError,
  type CreateConfigurationRequest,
  createUnderNewName,
  type NameTaken,
} from './create-notification-configuration.js';
import {
  contentsOf,
  type UpdateConfigurationError,
  updateNotificationConfiguration,
} from './update-notification-configuration.js';
import { mailObstacle } from './verify-destination.js';

/** Errors of `putNotificationConfiguration`. */
type PutConfigurationError = CreateConfigurationError | UpdateConfigurationError;

type Present =
  | { readonly type: 'absent' }
  | { readonly type: 'as_stated'; readonly view: ConfigurationView }
  | { readonly type: 'other'; readonly id: string };

/**
 * Creates the configuration of this name in the workspace, or updates it to match, so that a service can declare its
 * configurations at every start. An unchanged one is neither written nor verified. Of several with the same
 * name the oldest is updated.
 */
export function putNotificationConfiguration(
  context: EngineContext,
  caller: Principal,
  request: CreateConfigurationRequest,
): ResultAsync<ConfigurationView, PutConfigurationError> {
  return new ResultAsync(put(context, caller, request));
}

/** The number of attempts: processes that declare the same configuration at once conflict; the last conflict is returned. */
const mostTries = 4;

async function put(
  context: EngineContext,
  caller: Principal,
  request: CreateConfigurationRequest,
): Promise<Result<ConfigurationView, PutConfigurationError>> {
  for (let left = mostTries; ; left -= 1) {
    const result = await putOnce(context, caller, request);
    if (result.isOk()) return ok(result.value);
    const { error } = result;
    if (error.type === 'name_taken') {
      if (left <= 1) return err(takenMeanwhile);
      continue;
    }
    if (error.type !== 'conflict' || left <= 1) return err(error);
  }
}

const takenMeanwhile: Conflict = {
  type: 'conflict',
  message: 'Other requests create and remove configurations with this name at the same time; repeat the request',
};

async function putOnce(
  context: EngineContext,
  caller: Principal,
  request: CreateConfigurationRequest,
): Promise<Result<ConfigurationView, PutConfigurationError | NameTaken>> {
  const found = await readResult(context, (view) =>
    findWorkspace(view, caller, request.workspaceId).map((workspace): Present => {
      const visible = visibleConfigurations(view, caller, workspace.id);
      const present = visible.find(({ name }) => name === request.attributes.name);
      if (present === undefined) return { type: 'absent' };
      const before = contentsOf(context, present);
      const configurationContext = {
        organization: workspace.organization,
        findUser: (userId: string) => view.get(users, [userId])?.record,
        checkUrl: (url: string) => context.delivery.check(url),
        mailObstacle: mailObstacle(context),
      };
      const rules = context.settings.notifications;
      const stated = decideUpdate(before, request, configurationContext, rules);
      const same = stated.isOk() && JSON.stringify(stated.value.contents) === JSON.stringify(before);
      return same
        ? { type: 'as_stated', view: viewConfiguration(context, view, present, workspace) }
        : { type: 'other', id: present.id };
    }),
  );
  if (found.isErr()) return err(found.error);
  const { attributes, faults = [] } = request;
  switch (found.value.type) {
    case 'absent':
      return await createUnderNewName(context, caller, request);
    case 'as_stated':
      return ok(found.value.view);
    case 'other':
      return await updateNotificationConfiguration(context, caller, {
        configurationId: found.value.id,
        attributes,
        faults,
      });
  }
}
