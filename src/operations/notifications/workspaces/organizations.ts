import { err, ok, type Result, type ResultAsync } from 'neverthrow';
import { allowsWorkspace } from '../../../access/allows.js';
import { type Principal, type WorkspaceRight, workspaceRights } from '../../../access/principal.js';
import type { InvalidParameter, NotFound } from '../../../notifications/errors.js';
import { type User, users, type Workspace, workspaces } from '../../../notifications/workspace.js';
import type { ReadView, StorageError } from '../../../ports/storage.js';
import { isoFromInstant } from '../../../shared/instant.js';
import { type EngineContext, readResult } from '../../context/engine-context.js';
import { type Pagination, paginate } from '../configurations/list-notification-configurations.js';
import { findWorkspace } from '../find-resource.js';
import { type PageRequest, readPageOrFirst } from '../list-inputs.js';

/** An organization. It has no record; workspaces refer to it by name. */
export interface OrganizationView {
  /** Its name, as given in workspaces. */
  readonly name: string;
  /** When the first visible workspace was stored; RFC 3339. */
  readonly createdAt: string;
}

/** One page of the visible organizations, with their total number. */
export interface OrganizationList {
  readonly items: readonly OrganizationView[];
  readonly pagination: Pagination;
}

/** The features of an organization. */
export interface EntitlementView {
  readonly organization: string;
}

/** A workspace as callers see it. */
export interface WorkspaceView extends Omit<Workspace, 'createdAt'> {
  /** RFC 3339. */
  readonly createdAt: string;
  /** The right of the caller. */
  readonly right: WorkspaceRight;
}

/** One page of the visible workspaces, with their total number. */
export interface WorkspaceList {
  readonly items: readonly WorkspaceView[];
  readonly pagination: Pagination;
}

/** One page of the users of an organization, with their total number. */
export interface MembershipList {
  readonly items: readonly User[];
  readonly pagination: Pagination;
}

/** Selects the users of `listMemberships`. */
interface ListMembershipsRequest extends PageRequest {
  readonly organization: string;
  /** One or more addresses, separated by commas, case-insensitive. */
  readonly emails?: string;
  /** Part of the name or address, case-insensitive. */
  readonly search?: string;
  /** All users are active, so `invited` matches none. */
  readonly status?: 'active' | 'invited';
}

/** The caller. */
export interface AccountView {
  readonly id: string;
  readonly username: string;
  /** Known only for users of the host. */
  readonly email: string | null;
  /** False for users of the host. */
  readonly isServiceAccount: boolean;
}

/** Selects the workspaces of `listWorkspaces`. */
interface ListWorkspacesRequest extends PageRequest {
  readonly organization: string;
  /** Part of the name, case-insensitive. */
  readonly search?: string;
  /** A pattern for the name; `*` matches any characters. */
  readonly wildcard?: string;
  /** Workspaces have no tags, projects and runs here, so a filter for one of them matches nothing. */
  readonly tags?: string;
  readonly project?: string;
  readonly runStatus?: string;
  /** `name`, or `-name` for descending order. */
  readonly sort?: string;
}

/** The organizations of the workspaces that the caller has any right on, by name. */
export function listOrganizations(
  context: EngineContext,
  caller: Principal,
  request: PageRequest & { readonly search?: string },
): ResultAsync<OrganizationList, InvalidParameter | StorageError> {
  return readResult(context, (view) => {
    const found = organizationsOf(visibleWorkspaces(view, caller)).filter(
      ({ name }) => request.search === undefined || contains(name, request.search),
    );
    return pageOf(context, found, request);
  });
}

/** One organization, if the caller has any right on one of its workspaces. */
export function showOrganization(
  context: EngineContext,
  caller: Principal,
  { organization }: { readonly organization: string },
): ResultAsync<OrganizationView, NotFound | StorageError> {
  return readResult(context, (view): Result<OrganizationView, NotFound> => {
    const [found] = organizationsOf(visibleWorkspaces(view, caller, organization));
    return found === undefined ? err({ type: 'not_found', resource: 'organization', id: organization }) : ok(found);
  });
}

/** The features of an organization, if the caller sees it. */
export function showEntitlements(
  context: EngineContext,
  caller: Principal,
  request: { readonly organization: string },
): ResultAsync<EntitlementView, NotFound | StorageError> {
  return showOrganization(context, caller, request).map(({ name }) => ({ organization: name }));
}

/** The workspaces of an organization that the caller has any right on, by name; always a page. */
export function listWorkspaces(
  context: EngineContext,
  caller: Principal,
  request: ListWorkspacesRequest,
): ResultAsync<WorkspaceList, NotFound | InvalidParameter | StorageError> {
  const { organization } = request;
  return readResult(context, (view): Result<WorkspaceList, NotFound | InvalidParameter> => {
    const visible = visibleWorkspaces(view, caller, organization);
    if (visible.length === 0) return err({ type: 'not_found', resource: 'organization', id: organization });
    const found = visible.filter(matching(request));
    if (request.sort?.startsWith('-') === true) found.reverse();
    return pageOf(context, found, request).map(({ items, pagination }) => ({
      items: items.map((workspace) => viewWorkspace(workspace, caller)),
      pagination,
    }));
  });
}

/** The workspace with this name, if the caller has any right on it; of several the first by ID. */
export function showWorkspaceNamed(
  context: EngineContext,
  caller: Principal,
  { organization, name }: { readonly organization: string; readonly name: string },
): ResultAsync<WorkspaceView, NotFound | StorageError> {
  return readResult(context, (view): Result<WorkspaceView, NotFound> => {
    const found = view
      .list(workspaces, { index: 'by_organization', prefix: [organization, name] })
      .find(({ record }) => allowsWorkspace(caller, record.id, 'any'));
    return found === undefined
      ? err({ type: 'not_found', resource: 'workspace', id: name })
      : ok(viewWorkspace(found.record, caller));
  });
}

/** One workspace, if the caller has any right on it. */
export function showWorkspace(
  context: EngineContext,
  caller: Principal,
  { workspaceId }: { readonly workspaceId: string },
): ResultAsync<WorkspaceView, NotFound | StorageError> {
  return readResult(context, (view) =>
    findWorkspace(view, caller, workspaceId, 'any').map((workspace) => viewWorkspace(workspace, caller)),
  );
}

/**
 * The users of an organization, by ID. Their addresses are shown to callers who may name them as recipients: those with the right `admin` on one of
 * the organization's workspaces. For others there are none.
 */
export function listMemberships(
  context: EngineContext,
  caller: Principal,
  request: ListMembershipsRequest,
): ResultAsync<MembershipList, NotFound | InvalidParameter | StorageError> {
  const { organization } = request;
  return readResult(context, (view): Result<MembershipList, NotFound | InvalidParameter> => {
    if (!administers(view, caller, organization)) {
      return err({ type: 'not_found', resource: 'organization', id: organization });
    }
    const all = view.list(users, { index: 'by_organization', prefix: [organization] });
    return pageOf(context, all.map(({ record }) => record).filter(memberMatching(request)), request);
  });
}

/** One user of an organization, for the same callers as `listMemberships`. */
export function showMembership(
  context: EngineContext,
  caller: Principal,
  { userId }: { readonly userId: string },
): ResultAsync<User, NotFound | StorageError> {
  return readResult(context, (view): Result<User, NotFound> => {
    const user = view.get(users, [userId])?.record;
    return user === undefined || !administers(view, caller, user.organization)
      ? err({ type: 'not_found', resource: 'user', id: userId })
      : ok(user);
  });
}

function administers(view: ReadView, caller: Principal, organization: string): boolean {
  return visibleWorkspaces(view, caller, organization).some(({ id }) => allowsWorkspace(caller, id, 'admin'));
}

function memberMatching({ emails, search, status }: ListMembershipsRequest): (user: User) => boolean {
  if (status === 'invited') return () => false;
  const wanted = emails?.split(',').map((email) => email.trim().toLowerCase());
  return ({ username, email }) =>
    (wanted === undefined || wanted.includes(email.toLowerCase())) &&
    (search === undefined || contains(username, search) || contains(email, search));
}

/** The caller: a user of the host if the principal's accessor is a user ID. */
export function showAccount(context: EngineContext, caller: Principal): ResultAsync<AccountView, StorageError> {
  const id = caller.accessor === '' ? 'host' : caller.accessor;
  return context.storage.read((view) => {
    const user = view.get(users, [id])?.record;
    if (user !== undefined) return { id, username: user.username, email: user.email, isServiceAccount: false };
    return { id, username: caller.name === '' ? id : caller.name, email: null, isServiceAccount: true };
  });
}

/** Ordered by organization and name. */
function visibleWorkspaces(view: ReadView, caller: Principal, organization?: string): Workspace[] {
  const prefix = organization === undefined ? [] : [organization];
  return view
    .list(workspaces, { index: 'by_organization', prefix })
    .map(({ record }) => record)
    .filter(({ id }) => allowsWorkspace(caller, id, 'any'));
}

function organizationsOf(visible: readonly Workspace[]): OrganizationView[] {
  const first = new Map<string, number>();
  for (const { organization, createdAt } of visible) {
    first.set(organization, Math.min(first.get(organization) ?? createdAt, createdAt));
  }
  return [...first].map(([name, createdAt]) => ({ name, createdAt: isoFromInstant(createdAt) }));
}

function matching(request: ListWorkspacesRequest): (workspace: Workspace) => boolean {
  const { search, wildcard, tags, project, runStatus } = request;
  if (tags !== undefined || project !== undefined || runStatus !== undefined) return () => false;
  return ({ name }) =>
    (search === undefined || contains(name, search)) && (wildcard === undefined || matchesWildcard(name, wildcard));
}

function contains(name: string, part: string): boolean {
  return name.toLowerCase().includes(part.toLowerCase());
}

/** The parts between the stars must occur in order; the earliest match of each part is always sufficient. */
function matchesWildcard(name: string, wildcard: string): boolean {
  const [first = '', ...rest] = wildcard.toLowerCase().split('*');
  const last = rest.pop();
  const text = name.toLowerCase();
  if (last === undefined) return text === first;
  if (!text.startsWith(first)) return false;
  let from = first.length;
  for (const piece of rest) {
    const at = text.indexOf(piece, from);
    if (at < 0) return false;
    from = at + piece.length;
  }
  return text.endsWith(last) && text.length - last.length >= from;
}

/** The requested page, by default the first one. */
function pageOf<T>(
  context: EngineContext,
  found: readonly T[],
  asked: PageRequest,
): Result<{ readonly items: readonly T[]; readonly pagination: Pagination }, InvalidParameter> {
  const rules = context.settings.notifications;
  return readPageOrFirst(rules, asked).map(({ number, size }) => ({
    items: found.slice((number - 1) * size, number * size),
    pagination: paginate(number, size, found.length),
  }));
}

function viewWorkspace(workspace: Workspace, caller: Principal): WorkspaceView {
  const right = workspaceRights.find((each) => allowsWorkspace(caller, workspace.id, each)) ?? 'events';
  return { ...workspace, createdAt: isoFromInstant(workspace.createdAt), right };
}
