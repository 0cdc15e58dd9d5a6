import type { User } from '../../notifications/user.js';
import type { Workspace } from '../../notifications/workspace.js';
import type { WorkspaceInput } from '../../operations/notifications/workspaces/put-workspace.js';

import { management } from '../access.js';
import { nothing, resource } from '../answers.js';
import { notification } from '../call.js';
import { inDocument, inPath } from '../inputs.js';
import { namedSchema } from '../json-codecs.js';
import { text } from '../text-codecs.js';

const id = inPath('workspace_id', text);
const userId = inPath('user_id', text);

/** The workspaces of the host, which events belong to. */
export const workspaceCalls = {
  /** Creates or replaces a workspace. */
  put: notification({
    methods: ['PUT'],
    path: '/workspaces/{workspace_id}',
    access: management,
    summary: 'Creates or replaces a workspace; omitted attributes get their defaults',
    args: ['id', 'workspace'],
    inputs: {
      id,
      workspace: inDocument<Omit<WorkspaceInput, 'id'>>({
        types: ['workspaces', 'workspace'],
        attributes: {
          name: 'name',
          organization: 'organization',
          executionMode: 'execution-mode',
          driftDetection: 'drift-detection',
          healthAssessments: 'health-assessments',
          url: 'url',
        },
        relationships: {},
        closed: true,
        readOnly: ['id', 'createdAt'] satisfies (keyof Workspace)[],
        schema: namedSchema('PutWorkspace'),
      }),
    },
    errors: ['invalid_attributes'],
    answer: resource<Workspace>('stored-workspace', 'WorkspaceDocument'),
  }),

  /** Removes a workspace with its notification configurations; unfinished deliveries are cancelled. */
  remove: notification({
    methods: ['DELETE'],
    path: '/workspaces/{workspace_id}',
    access: management,
    summary: 'Removes a workspace with its notification configurations; unfinished deliveries are cancelled',
    args: ['workspaceId'],
    inputs: { workspaceId: id },
    errors: ['not_found'],
    answer: nothing(),
  }),
} as const;

/** The users of the host, the possible recipients of e-mail configurations. */
export const userCalls = {
  /** Creates or replaces a user. */
  put: notification({
    methods: ['PUT'],
    path: '/users/{user_id}',
    access: management,
    summary: 'Creates or replaces a user: a member of the given organization',
    args: ['id', 'user'],
    inputs: {
      id: userId,
      user: inDocument<Omit<User, 'id'>>({
        types: ['users', 'user'],
        attributes: { username: 'username', email: 'email', organization: 'organization' },
        relationships: {},
        closed: true,
        readOnly: ['id'] satisfies (keyof User)[],
        schema: namedSchema('PutUser'),
      }),
    },
    errors: ['invalid_attributes'],
    answer: resource<User>('users', 'NotificationRecordDocument'),
  }),

  /** Removes a user. Configurations with this user keep working for their other users. */
  remove: notification({
    methods: ['DELETE'],
    path: '/users/{user_id}',
    access: management,
    summary: 'Removes a user; configurations with this user keep working for their other users',
    args: ['userId'],
    inputs: { userId },
    errors: ['not_found'],
    answer: nothing(),
  }),
} as const;
