import type { ComponentChildren } from 'preact';
import { box, type EntryOf, type ValueOf } from '../../app/engine.js';
import { useRead } from '../../app/read.js';
import { rights, workspaceRight } from '../../app/rights.js';
import { addressOf, Link, setQuery } from '../../app/router.js';
import { Screen, Tabs } from '../../app/shell.js';
import { serverNow, Time } from '../../app/time.js';
import { Choice, type Option } from '../../parts/form.js';
import { Mark } from '../../parts/marks.js';
import { Text } from '../../parts/text.js';
import { healthWords, outcomeWords, type StateWords } from '../../rules/notification-words.js';
import { subjectText } from '../../rules/timeline.js';
import { triggers } from './requests.js';

export type Configuration = EntryOf<typeof box.notifications.list>;
export type Delivery = EntryOf<typeof box.deliveries.list>;

/** A workspace, and where its screens are: in the page of the operator, or alone in a frame of the host. */
export interface Room {
  readonly workspace: string;
  /** The segments of the address before those of its screens. */
  readonly base: readonly string[];
  readonly isPortal: boolean;
}

export function roomAddress(
  { base }: Room,
  path: readonly string[] = [],
  query: Readonly<Record<string, string | undefined>> = {},
): string {
  return addressOf([...base, ...path], query);
}

/** What led to an event and followed from it; the portal does not have it. */
export function timelineOfEvent({ workspace }: Room, event: string): string {
  return addressOf(['timeline'], { of: subjectText({ type: 'event', workspace, event }) });
}

/** Whether the caller manages the configurations without limits. */
export function mayAdminister({ workspace }: Room): boolean {
  return workspaceRight(workspace) === 'admin';
}

/** The views of a workspace. */
const tabs = [
  { name: '', label: 'Configurations' },
  { name: 'deliveries', label: 'Deliveries' },
  { name: 'events', label: 'Events' },
  { name: 'recoveries', label: 'Recoveries' },
  { name: 'explain', label: 'Explain' },
] as const;

/** A customer does not see how the host names the workspace. */
export function roomName({ workspace, isPortal }: Room): string {
  return isPortal ? 'Notifications' : rights.value?.workspaces[workspace]?.name || workspace;
}

interface RoomScreenProps {
  readonly room: Room;
  readonly title: string;
  /** The tab of the workspace, for its own views; records have none. */
  readonly tab?: string;
  readonly beside?: ComponentChildren;
  readonly children: ComponentChildren;
}

/** A screen within a workspace. */
export function RoomScreen({ room, title, tab, beside, children }: RoomScreenProps) {
  const { workspace, isPortal } = room;
  const isRecord = tab === undefined;
  const outside = isPortal ? [] : [{ label: 'Notify', to: addressOf(['notify']) }];
  return (
    <Screen
      title={title}
      crumbs={isRecord ? [...outside, { label: roomName(room), to: roomAddress(room) }] : outside}
      beside={
        <>
          {!isRecord && !isPortal && roomName(room) !== workspace && (
            <span class="secondary">
              <Text of={workspace} />
            </span>
          )}
          {beside}
          {!isRecord && (
            <>
              <span class="room" />
              <Link class="button" to={roomAddress(room, ['explain'])}>
                Why was someone (not) notified?
              </Link>
              <Link class="button" to={roomAddress(room, ['new'])}>
                New configuration
              </Link>
            </>
          )}
        </>
      }
    >
      {tab !== undefined && (
        <Tabs
          current={tab}
          tabs={tabs.map(({ name, label }) => ({ name, label, to: roomAddress(room, name === '' ? [] : [name]) }))}
        />
      )}
      {children}
    </Screen>
  );
}

/** State, shape and word, and what follows from it. */
export function Words({ words: { mark, word, detail } }: { readonly words: StateWords }) {
  return (
    <span>
      <Mark mark={mark} word={word} />
      {detail !== '' && <small> {detail}</small>}
    </span>
  );
}

/** The health of a configuration, as it counts. */
export function Health({
  of,
  lastStatus,
}: {
  readonly of: Configuration;
  readonly lastStatus?: number | null | undefined;
}) {
  return <Words words={healthWords(of, lastStatus, serverNow.value)} />;
}

export function NoMatch({ clear }: { readonly clear: () => void }) {
  return (
    <>
      <p>Nothing matches the filter.</p>
      <p>
        <button type="button" onClick={clear}>
          Clear the filter
        </button>
      </p>
    </>
  );
}

interface PagesProps {
  readonly page: number;
  readonly next: boolean;
  readonly note?: string;
}

/** Steps through the pages of a list, by the address. */
export function Pages({ page, next, note }: PagesProps) {
  const go = (to: number): void => setQuery({ page: to === 1 ? undefined : String(to) });
  if (page === 1 && !next) return note === undefined ? null : <p class="hint">{note}</p>;
  return (
    <p class="actions">
      <button type="button" disabled={page === 1} onClick={() => go(page - 1)}>
        Newer
      </button>
      <span>Page {page}</span>
      <button type="button" disabled={!next} onClick={() => go(page + 1)}>
        Older
      </button>
      {note !== undefined && <span class="hint">{note}</span>}
    </p>
  );
}

/** The latest delivery of each configuration that is among the newest 100 of the workspace. */
export function latestByConfiguration(
  list: ValueOf<typeof box.deliveries.ofWorkspace> | undefined,
): ReadonlyMap<string, Delivery> {
  const latest = new Map<string, Delivery>();
  for (const delivery of list?.items ?? [])
    if (!latest.has(delivery.configurationId)) latest.set(delivery.configurationId, delivery);
  return latest;
}

/** A delivery in a few words, with its address. */
export function LastDelivery({ room, of }: { readonly room: Room; readonly of: Delivery | undefined }) {
  if (of === undefined)
    return (
      <span class="secondary" title="None among the newest 100 of the workspace">
        none lately
      </span>
    );
  return (
    <Link to={roomAddress(room, ['deliveries', of.id])}>
      {of.outcome.replaceAll('_', ' ')}
      {of.lastStatus === null ? '' : `, ${of.lastStatus}`}, <Time at={of.settledAt ?? of.createdAt} />
    </Link>
  );
}

/** The event types of the host. */
export function useEventTypes() {
  return useRead('event-types', { read: ({ signal }) => box.eventTypes.list({ signal }) });
}

/** How deliveries have ended, to choose from. */
export function outcomeOption(outcome: Parameters<typeof outcomeWords>[0]['outcome']): Option {
  return [outcome, outcomeWords({ outcome }).word.toLowerCase()];
}

const spans = [
  [3_600_000, 'last hour'],
  [86_400_000, 'last day'],
  [604_800_000, 'last week'],
] as const;

/** A trigger or an event type, of those that are known. */
export function TriggerChoice({ value, change }: { readonly value: string; readonly change: (value: string) => void }) {
  const types = useEventTypes().state.value.value ?? [];
  const known = [...triggers.map((trigger): string => trigger.value), ...types.map(({ name }) => name)];
  return (
    <Choice
      label="Event"
      value={value}
      change={change}
      options={[['', 'any'], ...new Set([...known, ...(value === '' ? [] : [value])])]}
    />
  );
}

/** The time from which on: chosen as a span before now, kept as a time. */
export function SinceChoice({ value, change }: { readonly value: string; readonly change: (value: string) => void }) {
  return (
    <Choice
      label="Since"
      value={value}
      change={(chosen) =>
        change(chosen === '' || chosen === value ? chosen : new Date(serverNow.value - Number(chosen)).toISOString())
      }
      options={[
        ['', 'any time'],
        ...spans,
        ...(value === '' ? [] : [[value, `${value.slice(0, 16).replace('T', ' ')} UTC`] as const]),
      ]}
    />
  );
}
