import { err, ok, ResultAsync } from 'neverthrow';
import { useEffect, useRef, useState } from 'preact/hooks';
import { box, type EntryOf, messageOf } from '../../app/engine.js';
import { keepEqual, useRead } from '../../app/read.js';
import { Link, navigate } from '../../app/router.js';
import { exactServerNow, exactTime, serverNow, Time } from '../../app/time.js';
import { ask } from '../../parts/dialog.js';
import { Choice, Facts } from '../../parts/form.js';
import { Mark } from '../../parts/marks.js';
import { type Column, DataTable } from '../../parts/table.js';
import { Id, Text } from '../../parts/text.js';
import { announce } from '../../parts/toasts.js';
import { View } from '../../parts/view.js';
import { counted } from '../../rules/durations.js';
import { outcomeWords } from '../../rules/notification-words.js';
import { type Bulk, type DeliveryFilters, recoverableOutcome, recoverableOutcomes, spanOf } from './requests.js';
import { outcomeOption, type Room, RoomScreen, roomAddress, SinceChoice } from './room.js';

type Recovery = EntryOf<typeof box.recoveries.list>;
type Failure = { readonly type: string };

/** The last answer that a filter names. */
export function answerWords(status: string): string {
  return status === 'none' ? 'no answer' : status;
}

/** A counted set of deliveries. */
export interface CountedBulk {
  readonly bulk: Bulk;
  readonly count: number;
  /** Until when deliveries had ended, so that the set stays as it was counted. Milliseconds. */
  readonly until: number;
}

/** Counts the deliveries that a bulk redelivery would send. */
export function countBulk(
  { workspace }: Room,
  bulk: Bulk,
  until: number,
): ResultAsync<CountedBulk & { readonly whole: boolean }, Failure> {
  return box.recoveries
    .count(workspace, spanOf(bulk, until))
    .map(({ count, whole }) => ({ bulk, count, until, whole }));
}

/** Starts what was counted, unless the count has changed meanwhile. Answers the IDs of what was started. */
function startBulks(room: Room, all: readonly CountedBulk[]): ResultAsync<readonly string[], Failure> {
  const start = async () => {
    const ids: string[] = [];
    for (const { bulk, count, until } of all) {
      const again = await countBulk(room, bulk, until);
      if (again.isErr()) return err(again.error);
      if (again.value.count !== count) {
        const message = `Now ${again.value.count} match, not ${count}: close this and count again. Nothing was sent${ids.length > 0 ? ' of the others' : ''}.`;
        return err({ type: 'conflict', message });
      }
      const started = await box.recoveries.start(room.workspace, spanOf(bulk, until));
      if (started.isErr()) return err(started.error);
      ids.push(started.value.id);
    }
    return ok(ids);
  };
  return new ResultAsync<readonly string[], Failure>(start());
}

/** Asks with the count and the set, starts, and goes to the progress. */
export function askBulk(room: Room, all: readonly CountedBulk[], nameOf: (configuration: string) => string): void {
  const total = all.reduce((sum, { count }) => sum + count, 0);
  let started: readonly string[] = [];
  ask({
    title: `Send ${counted(total, 'delivery', 'deliveries')} again`,
    body: (
      <>
        <ul>
          {all.map(({ bulk, count, until }) => (
            <li key={JSON.stringify(bulk)}>
              {counted(count, 'delivery', 'deliveries')} {outcomeWords({ outcome: bulk.outcome }).word.toLowerCase()}{' '}
              between {exactTime(Date.parse(bulk.since))} and {exactTime(until)}
              {bulk.trigger !== '' && (
                <>
                  , of <Text of={bulk.trigger} />
                </>
              )}
              {bulk.status !== '' && <Text of={`, whose last answer is ${answerWords(bulk.status)}`} />}, to{' '}
              {bulk.configuration === '' ? 'all enabled configurations' : <Text of={nameOf(bulk.configuration)} />}
            </li>
          ))}
        </ul>
        <p>They keep their event IDs. The server sends them, also when this page is closed.</p>
      </>
    ),
    action: `Send ${total} again`,
    run: () => startBulks(room, all).map((ids) => (started = ids)),
    after: () => {
      announce('Sending again has begun');
      const [only] = started;
      navigate(roomAddress(room, only !== undefined && started.length === 1 ? ['recoveries', only] : ['recoveries']));
    },
  });
}

interface BulkPanelProps {
  readonly room: Room;
  readonly filters: DeliveryFilters;
  readonly names: ReadonlyMap<string, string>;
}

/** Sends deliveries that failed again: the set is a filter, counted by the server before anything is sent. */
export function BulkPanel({ room, filters, names }: BulkPanelProps) {
  const [isOpen, setOpen] = useState(false);
  return (
    <details class="panel" open={isOpen} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>Send many again…</summary>
      {isOpen && <BulkForm room={room} filters={filters} names={names} />}
    </details>
  );
}

function BulkForm({ room, filters, names }: BulkPanelProps) {
  const [outcome, setOutcome] = useState(recoverableOutcome(filters.outcome) ?? 'dead');
  const [since, setSince] = useState(filters.since || new Date(serverNow.peek() - 86_400_000).toISOString());
  const [found, setFound] = useState<(CountedBulk & { readonly whole: boolean }) | undefined>(undefined);
  const [failure, setFailure] = useState('');
  const latest = useRef(0);
  const { trigger, status, configuration } = filters;
  useEffect(() => {
    latest.current += 1;
    const turn = latest.current;
    setFound(undefined);
    setFailure('');
    if (since === '') return setFailure('Choose a time from which on.');
    const count = async (): Promise<void> => {
      const result = await countBulk(room, { outcome, since, trigger, status, configuration }, exactServerNow());
      if (turn !== latest.current) return;
      result.match(setFound, (error) => setFailure(messageOf(error)));
    };
    void count();
  }, [outcome, since, trigger, status, configuration]);
  return (
    <div class="toolbar">
      <Choice
        label="Those that are"
        value={outcome}
        change={(chosen) => setOutcome(recoverableOutcome(chosen) ?? 'dead')}
        options={recoverableOutcomes.map(outcomeOption)}
      />
      <SinceChoice value={since} change={setSince} />
      <span>
        {trigger === '' ? 'of all events' : <Text of={`of ${trigger}`} />},{' '}
        {configuration === '' ? (
          'to all enabled configurations'
        ) : (
          <Text of={`to ${names.get(configuration) ?? 'this configuration'}`} />
        )}
        {status !== '' && <Text of={`, last answer: ${answerWords(status)}`} />}
      </span>
      <span role="status">
        {failure !== '' ? (
          <Text of={failure} />
        ) : found === undefined ? (
          'Counting…'
        ) : (
          `${found.whole ? '' : 'At least '}${counted(found.count, 'delivery', 'deliveries')}`
        )}
      </span>
      <button
        type="button"
        class="primary"
        disabled={found === undefined || found.count === 0}
        onClick={() => found !== undefined && askBulk(room, [found], (id) => names.get(id) ?? id)}
      >
        {found === undefined || found.count === 0 ? 'Send again' : `Send ${found.count} again…`}
      </button>
    </div>
  );
}

export function RecoveriesTab({ room }: { readonly room: Room }) {
  const recoveries = useRead(`recoveries:${room.workspace}`, {
    waits: true,
    read: (how) => box.recoveries.list(room.workspace, how),
    keep: (next, previous) => ({ ...next, items: keepEqual(next.items, previous.items, ({ id }) => id) }),
  });
  const columns: readonly Column<Recovery>[] = [
    {
      key: 'begun',
      title: 'Begun',
      cell: ({ id, createdAt }) => (
        <Link to={roomAddress(room, ['recoveries', id])} data-row-link>
          <Time at={createdAt} />
        </Link>
      ),
    },
    { key: 'state', title: 'State', cell: (recovery) => <RecoveryState of={recovery} /> },
    { key: 'progress', title: 'Progress', cell: (recovery) => <Progress of={recovery} /> },
    { key: 'ended', title: 'Ended', cell: ({ finishedAt }) => <Time at={finishedAt} /> },
  ];
  return (
    <View
      reading={recoveries}
      what="the bulk redeliveries"
      needs="admin or portal on the workspace"
      isEmpty={({ items }) => items.length === 0}
      empty={
        <>
          <p>Nothing was sent again in bulk.</p>
          <p>
            <Link to={roomAddress(room, ['deliveries'], { outcome: 'dead' })}>Deliveries that were given up</Link>
          </p>
        </>
      }
    >
      {({ items }) => <DataTable name="Bulk redeliveries" columns={columns} rows={items} idOf={({ id }) => id} />}
    </View>
  );
}

function RecoveryState({ of: { state } }: { readonly of: Pick<Recovery, 'state'> }) {
  if (state === 'running') return <Mark mark="running" word="Running" />;
  return state === 'done' ? <Mark mark="good" word="Done" /> : <Mark mark="off" word="Stopped" />;
}

function Progress({ of: { redelivered, total } }: { readonly of: Pick<Recovery, 'redelivered' | 'total'> }) {
  return (
    <>
      <progress max={Math.max(1, total)} value={redelivered} aria-label="Progress" /> {redelivered.toLocaleString('en')}{' '}
      of {total.toLocaleString('en')}
    </>
  );
}

/** The progress of a bulk redelivery. */
export function RecoveryScreen({ room, id }: { readonly room: Room; readonly id: string }) {
  const recovery = useRead(`recovery:${id}`, { waits: true, read: (how) => box.recoveries.show(id, how) });
  const stop = async (): Promise<void> => {
    const stopped = await box.recoveries.cancel(id);
    stopped.match(
      () => announce('Stopped: nothing further is sent again'),
      (error) => announce(`It was not stopped: ${messageOf(error)}`),
    );
    await recovery.refresh();
  };
  return (
    <RoomScreen room={room} title="Sending again">
      <View
        reading={recovery}
        what="the bulk redelivery"
        needs="admin or portal on the workspace"
        gone={<Link to={roomAddress(room, ['recoveries'])}>The bulk redeliveries of the workspace</Link>}
      >
        {(value) => (
          <div class="panel stack">
            <p role="status">
              <RecoveryState of={value} />
            </p>
            <p>
              <Progress of={value} />
            </p>
            <Facts
              of={[
                value.status !== null && ['Last answer', answerWords(value.status)],
                ['Begun', <Time at={value.createdAt} />],
                ['Ended', <Time at={value.finishedAt} none="not yet" />],
                ['ID', <Id of={value.id} />],
              ]}
            />
            <div class="actions">
              {value.state === 'running' && (
                <button type="button" class="danger" onClick={() => void stop()}>
                  Stop
                </button>
              )}
              <Link to={roomAddress(room, ['deliveries'], { outcome: 'dead' })}>What is given up now</Link>
              <Link to={roomAddress(room, ['deliveries'], { outcome: 'pending' })}>What waits now</Link>
            </div>
            {value.state === 'running' && (
              <p class="hint">
                It continues when this page is closed and when the server restarts. Deliveries that are queued already
                are sent even after Stop.
              </p>
            )}
          </div>
        )}
      </View>
    </RoomScreen>
  );
}
