import { err, ok, type Result, type ResultAsync } from 'neverthrow';
import { allowsWorkspace } from '../../../access/allows.js';
import type { Principal, WorkspaceRight } from '../../../access/principal.js';
import type { InvalidParameter, NotFound } from '../../../notifications/errors.js';
import { type User, users } from '../../../notifications/user.js';
import { type ExecutionMode, type Workspace, workspaces } from '../../../notifications/workspace.js';
import type { ReadView, StorageError } from '../../../ports/storage.js';
import { isoFromInstant } from '../../../shared/instant.js';
import type { EngineContext } from '../../context/engine-context.js';
import { type Pagination, paginate } from '../configurations/list-notification-configurations.js';
import { findWorkspace } from '../find-resource.js';
import { type PageRequest, readPageOrFirst } from '../page.js';

/** An organization: a name that workspaces refer to. There is no record of it. */
export interface OrganizationView {
  /** Its name in workspaces. */
  readonly name: string;
  /** When the first workspace visible to the caller was stored; RFC 3339. */
  readonly createdAt: string;
}

/** One page of the organizations visible to the caller, with their total. */
export interface OrganizationList {
  readonly items: readonly OrganizationView[];
  readonly pagination: Pagination;
}

/** The organization of the features. */
export interface EntitlementView {
  readonly organization: string;
}

/** A workspace as returned to callers. */
export interface WorkspaceView {
  readonly id: string;
  /** Its name, for people. */
  readonly name: string;
  /** Its organization, whose users it can notify. */
  readonly organization: string;
  /** The execution mode of its runs. */
  readonly executionMode: ExecutionMode;
  /** Needed by the drift and check triggers. */
  readonly driftDetection: boolean;
  /** Needed by the trigger of failed assessments. */
  readonly healthAssessments: boolean;
  /** The web page set by the host, or null. */
  readonly url: string | null;
  /** RFC 3339. */
  readonly createdAt: string;
  /** The right of the caller. */
  readonly right: WorkspaceRight;
}

/** One page of the workspaces visible to the caller, with their total. */
export interface WorkspaceList {
  readonly items: readonly WorkspaceView[];
  readonly pagination: Pagination;
}

/** One page of the users of an organization, with their total. */
export interface MembershipList {
  readonly items: readonly User[];
  readonly pagination: Pagination;
}

/** Selects the users of `listMemberships`. */
export interface ListMembershipsRequest {
  readonly organization: string;
  /** Default: the first page of the default size. */
  readonly page?: PageRequest;
  /** Comma-separated addresses, case-insensitive. */
  readonly emails?: string;
  /** Part of the name or of the address, case-insensitive. */
  readonly search?: string;
  /** All users are active: `invited` matches nothing. */
  readonly status?: 'active' | 'invited';
}

/** The caller. */
export interface AccountView {
  readonly id: string;
  readonly username: string;
  /** Only for users of the host. */
  readonly email: string | null;
  /** False for the users of the host. */
  readonly isServiceAccount: boolean;
}

/** Selects the workspaces of `listWorkspaces`. */
export interface ListWorkspacesRequest {
  readonly organization: string;
  /** Default: the first page of the default size. */
  readonly page?: PageRequest;
  /** Part of the name, case-insensitive. */
  readonly search?: string;
  /** The name, where `*` stands for any characters. */
  readonly wildcard?: string;
  /** Workspaces have no tags, projects and runs here: such a filter matches nothing. */
  readonly tags?: string;
  readonly project?: string;
  readonly runStatus?: string;
  /** By name; descending with a leading hyphen. */
  readonly sort?: string;
}

/** The organizations of the workspaces on which the caller has any right, by name. */
export function listOrganizations(
  context: EngineContext,
  caller: Principal,
  request: { readonly page?: PageRequest; readonly search?: string },
): ResultAsync<OrganizationList, InvalidParameter | StorageError> {
  return context.storage
    .read((view) => {
      const found = organizationsOf(visibleWorkspaces(view, caller)).filter(
        ({ name }) => request.search === undefined || contains(name, request.search),
      );
      return pageOf(context, found, request.page);
    })
    .andThen((it) => it);
}

/** One organization, if the caller has any right on one of its workspaces. */
export function showOrganization(
  context: EngineContext,
  caller: Principal,
  { organization }: { readonly organization: string },
): ResultAsync<OrganizationView, NotFound | StorageError> {
  return context.storage
    .read((view): Result<OrganizationView, NotFound> => {
      const [found] = organizationsOf(visibleWorkspaces(view, caller, organization));
      return found === undefined ? err({ type: 'not_found', resource: 'organization', id: organization }) : ok(found);
    })
    .andThen((it) => it);
}

/** The features of an organization, if it is visible to the caller. */
export function showEntitlements(
  context: EngineContext,
  caller: Principal,
  request: { readonly organization: string },
): ResultAsync<EntitlementView, NotFound | StorageError> {
  return showOrganization(context, caller, request).map(({ name }) => ({ organization: name }));
}

/** A page of the workspaces of an organization on which the caller has any right, by name. */
export function listWorkspaces(
  context: EngineContext,
  caller: Principal,
  request: ListWorkspacesRequest,
): ResultAsync<WorkspaceList, NotFound | InvalidParameter | StorageError> {
  const { organization, page } = request;
  return context.storage
    .read((view): Result<WorkspaceList, NotFound | InvalidParameter> => {
      const visible = visibleWorkspaces(view, caller, organization);
      if (visible.length === 0) return err({ type: 'not_found', resource: 'organization', id: organization });
      const found = visible.filter(matching(request));
      if (request.sort?.startsWith('-') === true) found.reverse();
      return pageOf(context, found, page).map(({ items, pagination }) => ({
        items: items.map((workspace) => viewWorkspace(workspace, caller)),
        pagination,
      }));
    })
    .andThen((it) => it);
}

/** The workspace with a name, if the caller has any right on it; of several, the first by ID. */
export function showWorkspaceNamed(
  context: EngineContext,
  caller: Principal,
  { organization, name }: { readonly organization: string; readonly name: string },
): ResultAsync<WorkspaceView, NotFound | StorageError> {
  return context.storage
    .read((view): Result<WorkspaceView, NotFound> => {
      const found = view
        .list(workspaces, { index: 'by_organization', prefix: [organization, name] })
        .find(({ record }) => allowsWorkspace(caller, record.id, 'events'));
      return found === undefined
        ? err({ type: 'not_found', resource: 'workspace', id: name })
        : ok(viewWorkspace(found.record, caller));
    })
    .andThen((it) => it);
}

/** One workspace, if the caller has any right on it. */
export function showWorkspace(
  context: EngineContext,
  caller: Principal,
  { workspaceId }: { readonly workspaceId: string },
): ResultAsync<WorkspaceView, NotFound | StorageError> {
  return context.storage
    .read((view) =>
      findWorkspace(view, caller, workspaceId, 'events').map((workspace) => viewWorkspace(workspace, caller)),
    )
    .andThen((it) => it);
}

/**
 * The users of an organization, by ID. Visible only to callers that may name them as recipients: those with the right `admin` on one of
 * the organization's workspaces.
 */
export function listMemberships(
  context: EngineContext,
  caller: Principal,
  request: ListMembershipsRequest,
): ResultAsync<MembershipList, NotFound | InvalidParameter | StorageError> {
  const { organization, page } = request;
  return context.storage
    .read((view): Result<MembershipList, NotFound | InvalidParameter> => {
      if (!administers(view, caller, organization)) {
        return err({ type: 'not_found', resource: 'organization', id: organization });
      }
      const all = view.list(users, { index: 'by_organization', prefix: [organization] });
      return pageOf(context, all.map(({ record }) => record).filter(memberMatching(request)), page);
    })
    .andThen((it) => it);
}

/** One user of an organization, for the same callers as `listMemberships`. */
export function showMembership(
  context: EngineContext,
  caller: Principal,
  { userId }: { readonly userId: string },
): ResultAsync<User, NotFound | StorageError> {
  return context.storage
    .read((view): Result<User, NotFound> => {
      const user = view.get(users, [userId])?.record;
      return user === undefined || !administers(view, caller, user.organization)
        ? err({ type: 'not_found', resource: 'user', id: userId })
        : ok(user);
    })
    .andThen((it) => it);
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

/** The caller; a user of the host if the principal's accessor is the user's ID. */
export function showAccount(context: EngineContext, caller: Principal): ResultAsync<AccountView, StorageError> {
  const id = caller.accessor === '' ? 'host' : caller.accessor;
  return context.storage.read((view) => {
    const user = view.get(users, [id])?.record;
    if (user !== undefined) return { id, username: user.username, email: user.email, isServiceAccount: false };
    return { id, username: caller.name === '' ? id : caller.name, email: null, isServiceAccount: true };
  });
}

/** In the order of organizations and names. */
function visibleWorkspaces(view: ReadView, caller: Principal, organization?: string): Workspace[] {
  const prefix = organization === undefined ? [] : [organization];
  return view
    .list(workspaces, { index: 'by_organization', prefix })
    .map(({ record }) => record)
    .filter(({ id }) => allowsWorkspace(caller, id, 'events'));
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

/** The parts between the stars must occur in this order; the earliest match of each is the best one. */
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

/** A page, by default the first one. */
function pageOf<T>(
  context: EngineContext,
  found: readonly T[],
  asked: PageRequest | undefined,
): Result<{ readonly items: readonly T[]; readonly pagination: Pagination }, InvalidParameter> {
  const rules = context.settings.notifications;
  return readPageOrFirst(rules, asked).map(({ number, size }) => ({
    items: found.slice((number - 1) * size, number * size),
    pagination: paginate(number, size, found.length),
  }));
}

function viewWorkspace(workspace: Workspace, caller: Principal): WorkspaceView {
  const right = allowsWorkspace(caller, workspace.id, 'admin') ? 'admin' : 'events';
  return { ...workspace, createdAt: isoFromInstant(workspace.createdAt), right };
}
