import type { accountCalls, organizationCalls, workspaceReadCalls } from '../../../api/calls/organization-calls.js';
import type { Bindings } from '../../binding.js';
import {
  listOrganizations,
  listWorkspaces,
  showAccount,
  showEntitlements,
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
