import { errAsync, okAsync, ResultAsync } from 'neverthrow';
import type { ComponentChildren } from 'preact';
import { box } from '../../app/engine.js';
import { useRead, useRefresh } from '../../app/read.js';
import { rights, workspaceRight } from '../../app/rights.js';
import { addressOf, Link, place, setQuery } from '../../app/router.js';
import { Screen } from '../../app/shell.js';
import { type Column, DataTable } from '../../parts/table.js';
import { Text } from '../../parts/text.js';
import { View } from '../../parts/view.js';
import { healthWords, type StateWords, summaryWords } from '../../rules/notification-words.js';
import { ConfigurationScreen } from './configuration.js';
import { ConfigurationsTab } from './configurations.js';
import { DeliveriesTab } from './deliveries.js';
import { DeliveryScreen } from './delivery.js';
import { EventScreen, EventsTab } from './events.js';
import { ExplainTab } from './explain.js';
import { ConfigurationForm } from './form.js';
import { RecoveriesTab, RecoveryScreen } from './recoveries.js';
import { NoMatch, Pages, type Room, RoomScreen, roomName, Words } from './room.js';

/** What `/ui/notify` and everything below it show. */
export function NotifyScreen({ path: [workspace, ...path] }: { readonly path: readonly string[] }) {
  if (workspace === undefined) return <WorkspacesScreen />;
  const room = { workspace, base: ['notify', workspace], isPortal: false };
  return <RoomScreens key={workspace} room={room} path={path} />;
}

/** The screens of one workspace. */
export function RoomScreens({
  room,
  path: [first, second, third],
}: {
  readonly room: Room;
  readonly path: readonly string[];
}) {
  if (workspaceRight(room.workspace) === 'events')
    return (
      <RoomScreen room={room} title={roomName(room)}>
        <div class="state">
          <p>You may send events to this workspace, but not read its configurations and deliveries.</p>
          <p>
            The right <code>admin</code> or <code>portal</code> includes that; a management token grants it.
          </p>
        </div>
      </RoomScreen>
    );
  if (first === 'new' && second === undefined) return <NewScreen room={room} />;
  if (first === 'c' && second !== undefined && (third === undefined || third === 'edit'))
    return <ConfigurationScreen key={second} room={room} id={second} isEditing={third === 'edit'} />;
  if (first === 'deliveries' && second !== undefined && third === undefined)
    return <DeliveryScreen key={second} room={room} id={second} />;
  if (first === 'events' && second !== undefined && third === undefined)
    return <EventScreen key={second} room={room} id={second} />;
  if (first === 'recoveries' && second !== undefined && third === undefined)
    return <RecoveryScreen key={second} room={room} id={second} />;
  const Tab = second === undefined ? tabs[first ?? ''] : undefined;
  return (
    <RoomScreen room={room} title={roomName(room)} tab={Tab === undefined ? 'none' : (first ?? '')}>
      {Tab === undefined ? <p>There is no view of this name.</p> : <Tab room={room} />}
    </RoomScreen>
  );
}

const tabs: Readonly<Record<string, (props: { readonly room: Room }) => ComponentChildren>> = {
  '': ConfigurationsTab,
  deliveries: DeliveriesTab,
  events: EventsTab,
  recoveries: RecoveriesTab,
  explain: ExplainTab,
};

function NewScreen({ room }: { readonly room: Room }) {
  return (
    <RoomScreen room={room} title="New configuration">
      <ConfigurationForm room={room} />
    </RoomScreen>
  );
}

interface WorkspaceRow {
  readonly id: string;
  readonly name: string;
  readonly right: string;
  /** Undefined without the right to read it. */
  readonly words: StateWords | undefined;
  readonly count: number;
}

/** Configurations are read for this many workspaces of a page, each by one request. */
const perPage = 20;

function WorkspacesScreen() {
  const asked = place.value.query.get('q') ?? '';
  const page = Math.max(1, Math.trunc(Number(place.value.query.get('page'))) || 1);
  const known = Object.entries(rights.value?.workspaces ?? {})
    .filter(([id, { name }]) => `${id} ${name}`.toLowerCase().includes(asked.trim().toLowerCase()))
    .sort(([, one], [, other]) => one.name.localeCompare(other.name));
  const shown = known.slice((page - 1) * perPage, page * perPage);
  const key = JSON.stringify(shown);
  const rows = useRead(`notify-workspaces:${key}`, { read: ({ signal }) => workspaceRows(shown, signal) });
  useRefresh(rows, true, 30_000);
  return (
    <Screen title="Notify">
      <search>
        <form class="toolbar" onSubmit={(event) => event.preventDefault()}>
          <input
            type="search"
            aria-label="Workspace"
            placeholder="Part of the name or the ID of a workspace"
            value={asked}
            onInput={(event) => setQuery({ q: event.currentTarget.value, page: undefined })}
          />
        </form>
      </search>
      {known.length === 0 ? (
        <div class="state">
          {asked === '' ? <NoWorkspaces /> : <NoMatch clear={() => setQuery({ q: undefined })} />}
        </div>
      ) : (
        <View reading={rows} what="the workspaces">
          {(list) => <DataTable name="Workspaces" columns={workspaceColumns} rows={list} idOf={({ id }) => id} />}
        </View>
      )}
      {known.length > perPage && (
        <Pages
          page={page}
          next={page * perPage < known.length}
          note={`${known.length} workspaces${rights.value?.isCut === true ? ' at least; find others by their names with Ctrl K' : ''}`}
        />
      )}
    </Screen>
  );
}

function NoWorkspaces() {
  return (
    <>
      <p>There is no workspace on which you have a right.</p>
      <p>
        The host creates workspaces: with <code>workspaces.put</code>, or with the option <code>--seed</code> of{' '}
        <code>signalbox serve</code>.
      </p>
    </>
  );
}

function workspaceRows(
  shown: readonly (readonly [string, { readonly name: string; readonly right: string }])[],
  signal: AbortSignal,
): ResultAsync<readonly WorkspaceRow[], { readonly type: string }> {
  const rows = shown.map(([id, { name, right }]) => {
    const row = { id, name, right };
    if (right === 'events') return okAsync<WorkspaceRow>({ ...row, words: undefined, count: 0 });
    return box.notifications
      .list(id, { signal })
      .map(({ items }): WorkspaceRow => {
        const words = items.map((each) => healthWords(each, undefined, Date.now()));
        return { ...row, words: summaryWords(words), count: items.length };
      })
      .orElse((error) =>
        error.type === 'not_found' ? okAsync({ ...row, words: undefined, count: 0 }) : errAsync(error),
      );
  });
  return ResultAsync.combine(rows);
}

const workspaceColumns: readonly Column<WorkspaceRow>[] = [
  {
    key: 'name',
    title: 'Workspace',
    cell: ({ id, name }) => (
      <>
        <Link to={addressOf(['notify', id])} data-row-link>
          <Text of={name || id} />
        </Link>
        {name !== '' && name !== id && (
          <small>
            {' '}
            <Text of={id} />
          </small>
        )}
      </>
    ),
  },
  {
    key: 'health',
    title: 'Configurations',
    cell: ({ words }) =>
      words === undefined ? <span class="secondary">not readable with the right events</span> : <Words words={words} />,
  },
  { key: 'right', title: 'Your right', cell: ({ right }) => right },
];
