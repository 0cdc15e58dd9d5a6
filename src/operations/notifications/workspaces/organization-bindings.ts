import type { accountCalls, organizationCalls, workspaceReadCalls } from '../../../api/calls/organization-calls.js';
import type { Bindings } from '../../binding.js';
import {
  listMemberships,
  listOrganizations,
  listWorkspaces,
  showAccount,
  showEntitlements,
  showMembership,
  showOrganization,
  showWorkspace,
  showWorkspaceNamed,
} from './organizations.js';

/** The operations of the calls of organizations. */
export const organizationBindings: Bindings<typeof organizationCalls> = {
  list: (context, caller, { pageNumber, pageSize, ...input }) =>
    listOrganizations(context, caller, { ...input, page: { number: pageNumber, size: pageSize } }),
  show: showOrganization,
  entitlements: showEntitlements,
  memberships: (context, caller, { pageNumber, pageSize, include: _included, ...input }) =>
    listMemberships(context, caller, { ...input, page: { number: pageNumber, size: pageSize } }),
  membership: (context, caller, { id }) => showMembership(context, caller, { userId: id }),
};

/** The operations of the calls that read workspaces. */
export const workspaceReadBindings: Bindings<typeof workspaceReadCalls> = {
  list: (context, caller, { pageNumber, pageSize, ...input }) =>
    listWorkspaces(context, caller, { ...input, page: { number: pageNumber, size: pageSize } }),
  named: showWorkspaceNamed,
  show: (context, caller, { id }) => showWorkspace(context, caller, { workspaceId: id }),
};

/** The operation of the call about the caller. */
export const accountBindings: Bindings<typeof accountCalls> = {
  show: (context, caller) => showAccount(context, caller),
};
