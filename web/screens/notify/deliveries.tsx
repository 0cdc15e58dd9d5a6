import { box } from '../../app/engine.js';
import { keepEqual, useRead } from '../../app/read.js';
import { Link, place, setQuery } from '../../app/router.js';
import { millisecondsOf, serverNow, Time } from '../../app/time.js';
import { Choice } from '../../parts/form.js';
import { type Column, DataTable } from '../../parts/table.js';
import { Text } from '../../parts/text.js';
import { View } from '../../parts/view.js';
import { durationText } from '../../rules/durations.js';
import { failureName, outcomeWords } from '../../rules/notification-words.js';
import { useConfigurations } from './configurations.js';
import { answerWords, BulkPanel } from './recoveries.js';
import { askedOf, type DeliveryFilters, filtersOf, isFiltered } from './requests.js';
import {
  type Configuration,
  type Delivery,
  NoMatch,
  outcomeOption,
  Pages,
  type Room,
  roomAddress,
  SinceChoice,
  TriggerChoice,
  Words,
} from './room.js';

const outcomes: readonly Delivery['outcome'][] = ['pending', 'delivered', 'partly_delivered', 'dead', 'cancelled'];
const statuses = ['2xx', '3xx', '4xx', '5xx', 'none'];
const noFilters = { outcome: undefined, trigger: undefined, status: undefined, since: undefined, until: undefined };

export function DeliveriesTab({ room }: { readonly room: Room }) {
  const configurations = useConfigurations(room).state.value.value?.items ?? [];
  return <DeliveryList room={room} names={new Map(configurations.map(({ id, name }) => [id, name]))} />;
}

interface ListProps {
  readonly room: Room;
  /** Whose deliveries are listed; those of the workspace when absent. */
  readonly configuration?: Configuration;
  /** Names of the configurations of the workspace, by ID. */
  readonly names?: ReadonlyMap<string, string>;
}

/** The delivery log with its filters, which are in the address. */
export function DeliveryList({ room, configuration, names = new Map() }: ListProps) {
  const filters = filtersOf(place.value.query);
  const { configuration: owner, ...asked } = askedOf(filters);
  const list = useRead(
    `deliveries:${room.workspace}:${configuration?.id ?? ''}:${JSON.stringify({ ...asked, owner })}`,
    {
      waits: true,
      read: (how) =>
        configuration === undefined
          ? box.deliveries.ofWorkspace(room.workspace, {
              ...how,
              ...asked,
              ...(owner === undefined ? {} : { configuration: owner }),
            })
          : box.deliveries.list(configuration.id, { ...how, ...asked }),
      keep: (next, previous) => ({ ...next, items: keepEqual(next.items, previous.items, ({ id }) => id) }),
    },
  );
  const columns = columnsOf(room, configuration === undefined ? names : undefined);
  const isNarrow = isFiltered({ ...filters, ...(configuration === undefined ? {} : { configuration: '' }) });
  return (
    <>
      <Filters filters={filters} names={configuration === undefined ? names : undefined} />
      <View
        reading={list}
        what="the deliveries"
        needs="admin or portal on the workspace"
        isEmpty={({ items }) => items.length === 0 && filters.page === 1}
        empty={
          isNarrow ? (
            <NoMatch clear={() => setQuery({ ...noFilters, configuration: undefined, page: undefined })} />
          ) : (
            <p>Nothing was sent yet. An event that notifies a configuration makes a delivery; Test makes one, too.</p>
          )
        }
      >
        {({ items, nextPage, whole }) => (
          <>
            <div class="wrapping">
              <DataTable name="Deliveries" columns={columns} rows={items} idOf={({ id }) => id} />
            </div>
            <Pages
              page={filters.page}
              next={nextPage !== null}
              {...(whole ? {} : { note: 'Only the newest 50,000 were examined: older ones may match.' })}
            />
          </>
        )}
      </View>
      <BulkPanel
        room={room}
        filters={configuration === undefined ? filters : { ...filters, configuration: configuration.id }}
        names={names}
      />
    </>
  );
}

const knownColumns = new Map<string, readonly Column<Delivery>[]>();

/** The same columns for the same names, so that rows are not rendered without a change. */
function columnsOf(room: Room, names: ReadonlyMap<string, string> | undefined): readonly Column<Delivery>[] {
  const key = JSON.stringify([room.base, names === undefined ? null : [...names]]);
  const known = knownColumns.get(key);
  if (known !== undefined) return known;
  const made: readonly Column<Delivery>[] = [
    {
      key: 'trigger',
      title: 'Event',
      cell: ({ id, trigger, sample }) => (
        <>
          <Link to={roomAddress(room, ['deliveries', id])} data-row-link>
            <Text of={trigger} />
          </Link>
          {sample && <small> sample</small>}
        </>
      ),
    },
    ...(names === undefined
      ? []
      : [
          {
            key: 'to',
            title: 'To',
            cell: ({ configurationId }: Delivery) => (
              <Link to={roomAddress(room, ['c', configurationId])}>
                <Text of={names.get(configurationId) ?? configurationId} />
              </Link>
            ),
          },
        ]),
    { key: 'outcome', title: 'Outcome', cell: (delivery) => <DeliveryState of={delivery} /> },
    { key: 'status', title: 'Last answer', cell: (delivery) => <LastAnswer of={delivery} /> },
    { key: 'tries', title: 'Tries', isNumber: true, cell: ({ attemptCount }) => attemptCount },
    { key: 'accepted', title: 'Accepted', cell: ({ createdAt }) => <Time at={createdAt} /> },
    { key: 'ended', title: 'Ended', cell: ({ settledAt }) => <Time at={settledAt} /> },
  ];
  if (knownColumns.size > 20) knownColumns.clear();
  knownColumns.set(key, made);
  return made;
}

/** How it ended, or what it waits for and until when. */
export function DeliveryState({ of }: { readonly of: Delivery }) {
  const words = outcomeWords(of);
  const until = millisecondsOf(of.waitsFor?.until ?? of.nextAttemptAt);
  const left = until === undefined ? 0 : until - serverNow.value;
  if (of.outcome !== 'pending' || left <= 0) return <Words words={words} />;
  return <Words words={{ ...words, detail: `next try in ${durationText(left)}: ${words.detail}` }} />;
}

function LastAnswer({ of: { lastStatus, lastFailure } }: { readonly of: Delivery }) {
  if (lastStatus === null && lastFailure === null) return <span class="secondary">–</span>;
  return (
    <>
      {lastStatus ?? 'none'}
      {lastFailure !== null && <small> {failureName(lastFailure)}</small>}
    </>
  );
}

interface FiltersProps {
  readonly filters: DeliveryFilters;
  /** The configurations to choose from; none when they are of one. */
  readonly names: ReadonlyMap<string, string> | undefined;
}

function Filters({ filters, names }: FiltersProps) {
  const set = (changes: Readonly<Record<string, string | undefined>>): void =>
    setQuery({ ...changes, page: undefined });
  return (
    <search class="toolbar" aria-label="Filter">
      {names !== undefined && (
        <Choice
          label="To"
          value={filters.configuration}
          change={(configuration) => set({ configuration })}
          options={[
            ['', 'any configuration'],
            ...names,
            ...(filters.configuration === '' || names.has(filters.configuration) ? [] : [filters.configuration]),
          ]}
        />
      )}
      <Choice
        label="Outcome"
        value={filters.outcome}
        change={(outcome) => set({ outcome })}
        options={[['', 'any'], ...outcomes.map(outcomeOption)]}
      />
      <TriggerChoice value={filters.trigger} change={(trigger) => set({ trigger })} />
      <Choice
        label="Last answer"
        value={filters.status}
        change={(status) => set({ status })}
        options={[
          ['', 'any'],
          ...[...new Set([...statuses, ...(filters.status === '' ? [] : [filters.status])])].map(
            (each) => [each, answerWords(each)] as const,
          ),
        ]}
      />
      <SinceChoice value={filters.since} change={(since) => set({ since })} />
      {filters.until !== '' && (
        <span>
          until <Time at={filters.until} />
        </span>
      )}
      {isFiltered(filters) && (
        <button type="button" class="quiet" onClick={() => set({ ...noFilters, configuration: undefined })}>
          Clear
        </button>
      )}
    </search>
  );
}
