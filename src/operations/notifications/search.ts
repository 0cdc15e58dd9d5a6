import { err, ok, type Result, type ResultAsync } from 'neverthrow';
import { allowsKind, allowsWorkspace } from '../../access/allows.js';
import type { Principal } from '../../access/principal.js';
import { configurations, type NotificationConfiguration } from '../../notifications/configurations/configuration.js';
import { type Delivery, outcomeOf, sequencesFromPrefix } from '../../notifications/delivery/delivery.js';
import { originOf } from '../../notifications/delivery/redact.js';
import type { InvalidParameter } from '../../notifications/errors.js';
import { events, type StoredEvent } from '../../notifications/events/event.js';
import { type Workspace, workspaces } from '../../notifications/workspace.js';
import type { ReadView, StorageError } from '../../ports/storage.js';
import type { Steps } from '../../scheduler/steps.js';
import { isoFromInstant } from '../../shared/instant.js';
import type { EngineContext } from '../context/engine-context.js';
import { readInTurns } from '../context/steps-in-turns.js';
import { mayManage } from '../records/earlier-workspace.js';
import { pagesOf } from '../records/pages.js';
import { decryptSecret } from '../records/stored-secrets.js';
import { visibleDeliveries } from './events/events-log.js';

/** What a search has found, at most 20 of each kind: only what the caller may read. */
export interface NotificationMatches {
  readonly workspaces: readonly Pick<Workspace, 'id' | 'name' | 'organization'>[];
  /** `host` is host and port of the URL; empty for e-mail. */
  readonly configurations: readonly (Pick<
    NotificationConfiguration,
    'id' | 'workspaceId' | 'name' | 'kind' | 'enabled'
  > & { readonly host: string })[];
  /** Newest first. */
  readonly events: readonly (Pick<StoredEvent, 'id' | 'workspaceId' | 'trigger'> & { readonly createdAt: string })[];
  /** Newest first. */
  readonly deliveries: readonly (Pick<Delivery, 'id' | 'workspaceId' | 'configurationId' | 'eventId' | 'trigger'> & {
    readonly outcome: string;
  })[];
  /** Kinds of which more may match. */
  readonly cut: readonly ('workspaces' | 'configurations' | 'events' | 'deliveries')[];
}

/** Matches of each kind. */
const most = 20;
/** Records examined of each kind. */
const mostExamined = 10_000;
/** Records of a page. */
const size = 64;
/** The longest text to search for. */
const longest = 256;

/**
 * Workspaces and configurations by a part of the name (of configurations also of the host) or the beginning of the ID, without case; events
 * and deliveries by the beginning of the ID.
 */
export function searchNotifications(
  context: EngineContext,
  caller: Principal,
  { q }: { readonly q: string },
): ResultAsync<NotificationMatches, InvalidParameter | StorageError> {
  return readInTurns(context, (current) => searchInSteps(context, current, caller, q)).andThen((found) => found);
}

function* searchInSteps(
  context: EngineContext,
  current: () => ReadView,
  caller: Principal,
  q: unknown,
): Steps<Result<NotificationMatches, InvalidParameter>> {
  const asked = typeof q === 'string' ? q.trim() : '';
  if (asked === '' || asked.length > longest) {
    const message = `q must have 1 to ${longest} characters`;
    return err({ type: 'invalid_parameter', parameter: 'q', message });
  }
  const part = asked.toLowerCase();
  const isIn = (text: string): boolean => text.toLowerCase().includes(part);
  const hostOf = ({ url }: NotificationConfiguration): string =>
    originOf(decryptSecret(context, url).unwrapOr(null) ?? '').replace(/^\w+:\/\//, '');
  const scopes = scopesOf(caller);
  const ordered = context.settings.notifications.delivery.ordering !== 'none';
  const inRange = eventsIn(current, caller, scopes, sequencesFromPrefix(asked));
  const isOfDelivery = asked.startsWith('nd-');
  const found = {
    workspaces: yield* firstMatches(workspacesIn(current, scopes), ({ id, name, organization }) => {
      const isFound = (id.startsWith(asked) || isIn(name)) && allowsWorkspace(caller, id, 'any');
      return isFound ? { id, name, organization } : undefined;
    }),
    configurations: yield* firstMatches(configurationsIn(current, scopes), (configuration) => {
      const { id, workspaceId, name, kind, enabled } = configuration;
      if (!allowsWorkspace(caller, workspaceId, 'portal') || !allowsKind(caller, workspaceId, kind)) return undefined;
      const host = hostOf(configuration);
      return id.startsWith(asked) || isIn(name) || isIn(host)
        ? { id, workspaceId, name, kind, enabled, host }
        : undefined;
    }),
    events: yield* firstMatches(isOfDelivery ? [] : inRange, ({ id, workspaceId, trigger, createdAt }) =>
      id.startsWith(asked) ? { id, workspaceId, trigger, createdAt: isoFromInstant(createdAt) } : undefined,
    ),
    deliveries: yield* firstMatches(
      isOfDelivery ? deliveriesIn(current, caller, inRange, ordered) : [],
      ({ id, workspaceId, configurationId, eventId, trigger, state }) =>
        id.startsWith(asked)
          ? { id, workspaceId, configurationId, eventId, trigger, outcome: outcomeOf(state) }
          : undefined,
    ),
  };
  return ok({
    workspaces: found.workspaces.matches,
    configurations: found.configurations.matches,
    events: found.events.matches,
    deliveries: found.deliveries.matches,
    cut: (['workspaces', 'configurations', 'events', 'deliveries'] as const).filter((kind) => found[kind].isCut),
  });
}

/**
 * The first matches in pages of records, in steps of a page. A record is undefined if the caller may not read it; `show` returns undefined
 * for one that does not match.
 */
function* firstMatches<T, S>(
  pages: Iterable<readonly (T | undefined)[]>,
  show: (record: T) => S | undefined,
): Steps<{ readonly matches: readonly S[]; readonly isCut: boolean }> {
  const matches: S[] = [];
  let examined = 0;
  for (const page of pages) {
    for (const record of page) {
      const shown = record === undefined ? undefined : show(record);
      if (shown === undefined) continue;
      if (matches.length === most) return { matches, isCut: true };
      matches.push(shown);
    }
    examined += page.length;
    if (examined >= mostExamined) return { matches, isCut: true };
    yield;
  }
  return { matches, isCut: false };
}

/** The workspaces to read: those that the caller's rights name; null for all. */
function scopesOf({ management, workspaces: rights }: Principal): readonly string[] | null {
  const names = Object.keys(rights);
  return management || names.some((name) => name.includes('*')) ? null : names;
}

type Scopes = ReturnType<typeof scopesOf>;

function* workspacesIn(current: () => ReadView, scopes: Scopes): Generator<readonly Workspace[]> {
  if (scopes === null) yield* pagesOf(current, workspaces, { size, keyOf: ({ id }) => [id] });
  else for (const id of scopes) yield [current().get(workspaces, [id])].flatMap((row) => row?.record ?? []);
}

function* configurationsIn(current: () => ReadView, scopes: Scopes): Generator<readonly NotificationConfiguration[]> {
  if (scopes === null) yield* pagesOf(current, configurations, { size, keyOf: ({ id }) => [id] });
  for (const id of scopes ?? []) {
    yield current()
      .list(configurations, { index: 'by_workspace', prefix: [id] })
      .map(({ record }) => record);
  }
}

/** Events of a range of sequences, newest first; workspace by workspace if there are scopes. */
function* eventsIn(
  current: () => ReadView,
  caller: Principal,
  scopes: Scopes,
  range: readonly [from: number, to: number] | null,
): Generator<readonly (StoredEvent | undefined)[]> {
  if (range === null) return;
  const [from, end] = range;
  for (const scope of scopes ?? [undefined]) {
    const [index, prefix] = scope === undefined ? [{}, []] : [{ index: 'by_workspace' }, [scope]];
    for (let to = end; ; ) {
      const view = current();
      const page = view.list(events, {
        ...index,
        from: [...prefix, from],
        to: [...prefix, to],
        reverse: true,
        limit: size,
      });
      yield page.map(({ record }) => (mayManage(view, caller, record) ? record : undefined));
      if (page.length < size) break;
      to = page.at(-1)?.record.sequence ?? 0;
    }
  }
}

function* deliveriesIn(
  current: () => ReadView,
  caller: Principal,
  pages: Iterable<readonly (StoredEvent | undefined)[]>,
  ordered: boolean,
): Generator<readonly (Delivery | undefined)[]> {
  for (const page of pages) {
    yield page.flatMap((event) =>
      event === undefined || event.notified.length === 0
        ? [undefined]
        : visibleDeliveries(current(), caller, event, ordered),
    );
  }
}
