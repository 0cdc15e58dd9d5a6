import type { User, Workspace } from '../../notifications/workspace.js';
import type {
  AccountView,
  EntitlementView,
  MembershipList,
  OrganizationList,
  OrganizationView,
  WorkspaceList,
  WorkspaceView,
} from '../../operations/notifications/workspaces/organizations.js';
import type { PortalInput, PortalToken } from '../../operations/notifications/workspaces/portal-tokens.js';
import type { WorkspaceInput } from '../../operations/notifications/workspaces/workspaces-and-users.js';
import { anyCaller, management, onWorkspace } from '../access.js';
import { nothing, resource } from '../answers.js';
import { notification } from '../call.js';
import { inDocument, inPath, inQuery, numberedPage } from '../inputs.js';
import { namedSchema } from '../json-codecs.js';
import { name, text, word } from '../text-codecs.js';

const organization = inPath('organization', text);
const includedUsers = inQuery('include', word('user'), 'Adds the users to the document');
const ofOrganization = '/organizations/{organization}';
const oneWorkspace = resource<WorkspaceView>('workspace', 'WorkspaceDocument');

/** The organizations that workspaces name. Any right on a workspace includes reading its organization. */
export const organizationCalls = {
  /** The organizations of the workspaces that the caller sees, by name. */
  list: notification({
    methods: ['GET'],
    path: '/organizations',
    access: anyCaller,
    summary: 'The organizations of the workspaces on which the caller has a right, by name',
    inputs: { ...numberedPage, search: inQuery('q', name, 'Part of the name', ['q[name]']) },
    errors: ['invalid_parameter'],
    answer: resource<OrganizationList>('organization-list', 'OrganizationListDocument'),
  }),

  /** One organization. */
  show: notification({
    methods: ['GET'],
    path: ofOrganization,
    access: onWorkspace('any'),
    summary: 'One organization',
    args: ['organization'],
    inputs: { organization },
    errors: ['not_found'],
    answer: resource<OrganizationView>('organization', 'OrganizationDocument'),
  }),

  /** The features of HCP Terraform that an organization has here. */
  entitlements: notification({
    methods: ['GET'],
    path: `${ofOrganization}/entitlement-set`,
    access: onWorkspace('any'),
    summary: 'The features of an organization: this server supports notifications only',
    args: ['organization'],
    inputs: { organization },
    errors: ['not_found'],
    answer: resource<EntitlementView>('entitlement-set', 'EntitlementSetDocument'),
  }),

  /** The users of an organization, by ID: the possible recipients of its e-mail configurations. */
  memberships: notification({
    methods: ['GET'],
    path: `${ofOrganization}/organization-memberships`,
    access: onWorkspace('admin'),
    summary: 'The users of an organization, who can be recipients of e-mail notifications',
    args: ['organization'],
    inputs: {
      organization,
      ...numberedPage,
      emails: inQuery('filter[email]', text, 'One e-mail address or several, separated by commas'),
      status: inQuery('filter[status]', word('active', 'invited'), 'All users are active: `invited` matches nothing'),
      search: inQuery('q', text, 'Part of the name or of the address'),
      include: includedUsers,
    },
    errors: ['not_found', 'invalid_parameter'],
    answer: resource<MembershipList>('membership-list', 'MembershipListDocument'),
  }),

  /** One user of an organization, as a membership. */
  membership: notification({
    methods: ['GET'],
    path: '/organization-memberships/{user_id}',
    access: onWorkspace('admin'),
    summary: 'One user of an organization, as a membership',
    args: ['userId'],
    inputs: { userId: inPath('user_id', text), include: includedUsers },
    errors: ['not_found', 'invalid_parameter'],
    answer: resource<User>('membership', 'MembershipDocument'),
  }),
} as const;

/** The workspaces that the host has stored. Any right on a workspace includes reading it. */
export const workspaceReadCalls = {
  /** The workspaces of an organization, by name. */
  list: notification({
    methods: ['GET'],
    path: `${ofOrganization}/workspaces`,
    access: onWorkspace('any'),
    summary: 'The workspaces of an organization on which the caller has a right, by name',
    args: ['organization'],
    inputs: {
      organization,
      ...numberedPage,
      search: inQuery('search[name]', name, 'Part of the name'),
      wildcard: inQuery('search[wildcard-name]', name, 'The name, where `*` stands for any characters'),
      tags: inQuery('search[tags]', name, 'Tags; workspaces have no tags here, so this matches nothing'),
      project: inQuery('filter[project][id]', name, 'A project; there are no projects here, so this matches nothing'),
      runStatus: inQuery(
        'filter[current-run][status]',
        name,
        'A run status; current runs are unknown here, so this matches nothing',
      ),
      sort: inQuery(
        'sort',
        word('name', '-name', 'current-run.created-at', '-current-run.created-at'),
        'By name, descending with a hyphen; sorting by current runs sorts by name, because runs are unknown here',
      ),
    },
    errors: ['not_found', 'invalid_parameter'],
    answer: resource<WorkspaceList>('workspace-list', 'WorkspaceListDocument'),
  }),

  /** The workspace with this name. */
  named: notification({
    methods: ['GET'],
    path: `${ofOrganization}/workspaces/{workspace_name}`,
    access: onWorkspace('any'),
    summary: 'The workspace with this name in an organization',
    args: ['organization', 'name'],
    inputs: { organization, name: inPath('workspace_name', text) },
    errors: ['not_found'],
    answer: oneWorkspace,
  }),

  /** One workspace. */
  show: notification({
    methods: ['GET'],
    path: '/workspaces/{workspace_id}',
    access: onWorkspace('any'),
    summary: 'One workspace',
    args: ['workspaceId'],
    inputs: { workspaceId: inPath('workspace_id', text) },
    errors: ['not_found'],
    answer: oneWorkspace,
  }),
} as const;

/** The caller. */
export const accountCalls = {
  /** The caller, as known to this server. */
  show: notification({
    methods: ['GET'],
    path: '/account/details',
    access: anyCaller,
    summary: 'The owner of the token',
    inputs: {},
    answer: resource<AccountView>('account', 'AccountDocument'),
  }),
} as const;

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

  /** Creates a token for the page of one workspace: the right `portal`, for at most 15 minutes. */
  createPortalToken: notification({
    methods: ['POST'],
    path: '/workspaces/{workspace_id}/portal-tokens',
    access: onWorkspace('admin'),
    summary: 'Creates a token with the right "portal" on the workspace, for at most 15 minutes',
    args: ['workspaceId', 'portal'],
    inputs: {
      workspaceId: id,
      portal: inDocument<PortalInput>({
        types: ['notification-portal-tokens', 'notification-portal-token'],
        attributes: { kinds: 'kinds', configurations: 'configurations', lifetime: 'lifetime', name: 'name' },
        relationships: {},
        closed: true,
        schema: namedSchema('CreateNotificationPortalToken'),
      }),
    },
    errors: ['not_found', 'invalid_attributes'],
    answer: resource<PortalToken>('notification-portal-tokens', 'NotificationRecordDocument', 201),
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
