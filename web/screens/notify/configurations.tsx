import { box } from '../../app/engine.js';
import { keepEqual, useRead, useRefresh } from '../../app/read.js';
import { Link } from '../../app/router.js';
import { type Column, DataTable } from '../../parts/table.js';
import { Text } from '../../parts/text.js';
import { View } from '../../parts/view.js';
import { counted } from '../../rules/durations.js';
import { destinationText, kindNames } from '../../rules/notification-words.js';
import { QuickAction } from './actions.js';
import { type Configuration, Health, LastDelivery, latestByConfiguration, type Room, roomAddress } from './room.js';

/** The configurations of a workspace; waits for changes. */
export function useConfigurations({ workspace }: Room) {
  return useRead(`configurations:${workspace}`, {
    waits: true,
    read: (how) => box.notifications.list(workspace, how),
    keep: (next, previous) => ({ ...next, items: keepEqual(next.items, previous.items, ({ id }) => id) }),
  });
}

export function ConfigurationsTab({ room }: { readonly room: Room }) {
  const configurations = useConfigurations(room);
  const latest = useRead(`latest-deliveries:${room.workspace}`, {
    waits: true,
    read: (how) => box.deliveries.ofWorkspace(room.workspace, { ...how, pageSize: 100 }),
  });
  const items = configurations.state.value.value?.items ?? [];
  // The number that wait behind a pause or an open breaker grows without a change of the configuration.
  useRefresh(
    configurations,
    items.some(({ health }) => health.paused || health.breaker !== 'closed'),
  );
  const byId = latestByConfiguration(latest.state.value.value);
  const columns: readonly Column<Configuration>[] = [
    {
      key: 'name',
      title: 'Name',
      cell: ({ id, name }) => (
        <Link to={roomAddress(room, ['c', id])} data-row-link>
          <Text of={name} />
        </Link>
      ),
    },
    {
      key: 'to',
      title: 'Sends to',
      cell: (configuration) => (
        <>
          <Text of={destinationText(configuration)} /> <small>{kindNames[configuration.kind]}</small>
        </>
      ),
    },
    { key: 'triggers', title: 'Triggers', cell: (configuration) => <Triggers of={configuration} /> },
    {
      key: 'health',
      title: 'Health',
      cell: (configuration) => <Health of={configuration} lastStatus={byId.get(configuration.id)?.lastStatus} />,
    },
    {
      key: 'last',
      title: 'Last delivery',
      cell: ({ id }) => (latest.state.value.value === undefined ? '' : <LastDelivery room={room} of={byId.get(id)} />),
    },
    {
      key: 'action',
      title: 'Action',
      cell: (configuration) => (
        <QuickAction room={room} configuration={configuration} refresh={configurations.refresh} />
      ),
    },
  ];
  return (
    <View
      reading={configurations}
      what="the configurations"
      needs="admin or portal on the workspace"
      isEmpty={(list) => list.items.length === 0}
      empty={<NoConfigurations room={room} />}
    >
      {(list) => (
        <>
          <div class="wrapping">
            <DataTable name="Configurations" columns={columns} rows={list.items} idOf={({ id }) => id} />
          </div>
          <p class="hint">
            {counted(list.items.length, 'configuration')}; a workspace has at most 20 unless its host sets another
            limit.
          </p>
        </>
      )}
    </View>
  );
}

function NoConfigurations({ room }: { readonly room: Room }) {
  return (
    <>
      <p>Nobody is notified of the events of this workspace yet.</p>
      <p>
        <Link class="button" to={roomAddress(room, ['new'])}>
          New configuration
        </Link>
      </p>
      {!room.isPortal && (
        <p>
          In a program:{' '}
          <code>
            box.notifications.declare('{room.workspace}', {'{ … }'})
          </code>
        </p>
      )}
    </>
  );
}

/** Triggers, event types and whether there is a filter. */
export function Triggers({ of: { triggers, delivery } }: { readonly of: Configuration }) {
  const all = [...triggers, ...(delivery?.eventTypes ?? [])];
  if (all.length === 0) return <span class="secondary">none</span>;
  return (
    <span title={all.join(', ')}>
      <Text of={all.slice(0, 3).join(', ')} />
      {all.length > 3 ? ` and ${all.length - 3} more` : ''}
      {delivery?.filter == null ? '' : ', filtered'}
    </span>
  );
}
