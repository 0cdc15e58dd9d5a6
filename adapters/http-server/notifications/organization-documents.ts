import type {
  AccountView,
  EntitlementView,
  MembershipList,
  OrganizationList,
  OrganizationView,
  User,
  Workspace,
  WorkspaceList,
  WorkspaceView,
} from '../../../src/index.js';
import type { RouteCall } from '../calls/route.js';
import { pageLinks, paginationMember } from './pagination.js';

/** The JSON:API documents of organizations, workspaces and the account. Features that this server does not have are false. */
export const organizationDocuments: Readonly<Record<string, (value: unknown, call: RouteCall) => object>> = {
  organization: (value, call) => ({ data: organizationResource(value as OrganizationView, call.notificationsPath) }),
  'organization-list': (value, call) => {
    const { items, pagination } = value as OrganizationList;
    const data = items.map((view) => organizationResource(view, call.notificationsPath));
    return listDocument(call, data, pagination, ['q']);
  },
  'entitlement-set': (value) => ({ data: entitlementResource(value as EntitlementView) }),
  workspace: (value, call) => ({ data: workspaceResource(value as WorkspaceView, call.notificationsPath) }),
  'stored-workspace': (value, call) => {
    const { createdAt, ...workspace } = value as Workspace;
    // Storing workspaces needs the management right, which includes all others.
    const view: WorkspaceView = { ...workspace, createdAt: new Date(createdAt).toISOString(), right: 'admin' };
    return { data: workspaceResource(view, call.notificationsPath) };
  },
  'workspace-list': (value, call) => {
    const { items, pagination } = value as WorkspaceList;
    const data = items.map((view) => workspaceResource(view, call.notificationsPath));
    return listDocument(call, data, pagination, workspaceFilters);
  },
  'membership-list': (value, call) => {
    const { items, pagination } = value as MembershipList;
    const document = listDocument(call, items.map(membershipResource), pagination, membershipFilters);
    return { ...document, ...includedUsers(call, items) };
  },
  membership: (value, call) => ({ data: membershipResource(value as User), ...includedUsers(call, [value as User]) }),
  account: (value) => ({ data: accountResource(value as AccountView) }),
};

/** The parameters that the links of a list of workspaces keep. */
const workspaceFilters = [
  'search[name]',
  'search[wildcard-name]',
  'search[tags]',
  'filter[project][id]',
  'filter[current-run][status]',
  'sort',
];

const membershipFilters = ['filter[email]', 'filter[status]', 'q', 'include'];

function listDocument(
  call: RouteCall,
  data: readonly object[],
  pagination: WorkspaceList['pagination'],
  filters: readonly string[],
): object {
  const kept = Object.fromEntries(filters.map((name) => [name, call.query.get(name).unwrapOr(undefined)]));
  return {
    data,
    links: pageLinks(call, { ...pagination, lastPage: pagination.totalPages }, kept),
    meta: { pagination: paginationMember(pagination) },
  };
}

function organizationResource(view: OrganizationView, mount: string): object {
  return {
    // Clients know an organization by its name.
    id: view.name,
    type: 'organizations',
    attributes: {
      name: view.name,
      'created-at': view.createdAt,
      permissions: { 'can-traverse': true, 'can-update': false, 'can-destroy': false, 'can-create-workspace': false },
    },
    links: { self: `${mount}/organizations/${encodeURIComponent(view.name)}` },
  };
}

function entitlementResource({ organization }: EntitlementView): object {
  return {
    id: organization,
    type: 'entitlement-sets',
    attributes: Object.fromEntries(features.map((feature) => [feature, false])),
  };
}

/** Features that clients query; this server has none of them. */
const features = [
  'agents',
  'audit-logging',
  'cost-estimation',
  'global-run-tasks',
  'operations',
  'private-module-registry',
  'private-run-tasks',
  'run-tasks',
  'sentinel',
  'sso',
  'state-storage',
  'teams',
  'vcs-integrations',
];

function workspaceResource(view: WorkspaceView, mount: string): object {
  return {
    id: view.id,
    type: 'workspaces',
    attributes: {
      name: view.name,
      'execution-mode': view.executionMode,
      operations: view.executionMode !== 'local',
      'assessments-enabled': view.healthAssessments,
      'health-assessments': view.healthAssessments,
      'drift-detection': view.driftDetection,
      url: view.url,
      'created-at': view.createdAt,
      permissions: { 'can-read-settings': true, 'can-update': view.right === 'admin', 'can-destroy': false },
    },
    relationships: { organization: { data: { id: view.organization, type: 'organizations' } } },
    links: { self: `${mount}/workspaces/${encodeURIComponent(view.id)}` },
  };
}

/** The ID of a membership is that of its user: a user belongs to one organization. */
function membershipResource({ id, email, organization }: User): object {
  return {
    id,
    type: 'organization-memberships',
    attributes: { status: 'active', email },
    relationships: {
      organization: { data: { id: organization, type: 'organizations' } },
      user: { data: { id, type: 'users' } },
      teams: { data: [] },
    },
  };
}

function includedUsers(call: RouteCall, users: readonly User[]): object {
  if (call.query.get('include').unwrapOr(undefined) === undefined) return {};
  return { included: users.map((user) => accountResource({ ...user, isServiceAccount: false })) };
}

function accountResource(view: AccountView): object {
  return {
    id: view.id,
    type: 'users',
    attributes: { username: view.username, email: view.email, 'is-service-account': view.isServiceAccount },
  };
}
