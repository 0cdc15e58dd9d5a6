import { useEffect, useRef, useState } from 'preact/hooks';
import { box, type EntryOf, type ValueOf } from '../../app/engine.js';
import { useKey } from '../../app/keys.js';
import { keepEqual, useRead } from '../../app/read.js';
import { Link, place, setQuery } from '../../app/router.js';
import { Time } from '../../app/time.js';
import { ask } from '../../parts/dialog.js';
import { Choice } from '../../parts/form.js';
import { type Column, DataTable } from '../../parts/table.js';
import { Copy, Id, LongText, Text } from '../../parts/text.js';
import { announce } from '../../parts/toasts.js';
import { View } from '../../parts/view.js';
import { namesOf, notNotified, outcomeWords } from '../../rules/notification-words.js';
import { DeliveryState } from './deliveries.js';
import { eventFilter, filtersOf } from './requests.js';
import {
  mayAdminister,
  NoMatch,
  outcomeOption,
  Pages,
  type Room,
  RoomScreen,
  roomAddress,
  SinceChoice,
  TriggerChoice,
  timelineOfEvent,
  Words,
} from './room.js';

type Event = EntryOf<typeof box.events.list>;
type Details = ValueOf<typeof box.events.show>;

/** The events of a workspace, with what became of their deliveries. */
export function EventsTab({ room }: { readonly room: Room }) {
  const { query } = place.value;
  const { outcome, trigger, since, page } = filtersOf(query);
  const asked = query.get('q') ?? '';
  const events = useRead(`events:${JSON.stringify([room.workspace, outcome, trigger, since, page, asked])}`, {
    waits: true,
    read: (how) =>
      box.events.list(room.workspace, {
        ...how,
        pageNumber: page,
        pageSize: 50,
        ...(outcome === '' ? {} : { outcome }),
        ...(trigger === '' ? {} : { trigger }),
        ...(since === '' ? {} : { since: Date.parse(since) }),
        ...(asked === '' ? {} : { filter: eventFilter(asked) }),
      }),
    keep: (next, previous) => ({ ...next, items: keepEqual(next.items, previous.items, ({ id }) => id) }),
  });
  const clear = (): void =>
    setQuery({ q: undefined, outcome: undefined, trigger: undefined, since: undefined, page: undefined });
  return (
    <>
      <EventFilters asked={asked} />
      <View
        reading={events}
        what="the events"
        needs="admin or portal on the workspace"
        isEmpty={({ items }) => items.length === 0 && page === 1}
        empty={
          [outcome, trigger, since, asked].some((each) => each !== '') ? (
            <NoMatch clear={clear} />
          ) : (
            <p>No event was accepted yet, or events are no longer kept.</p>
          )
        }
      >
        {({ items, nextPage, totalCount, counted }) => (
          <>
            <DataTable name="Events" columns={columnsOf(room)} rows={items} idOf={({ id }) => id} />
            <Pages
              page={page}
              next={nextPage !== null}
              note={`${counted ? '' : 'at least '}${totalCount.toLocaleString('en')} events`}
            />
          </>
        )}
      </View>
    </>
  );
}

function EventFilters({ asked }: { readonly asked: string }) {
  const { outcome, trigger, since } = filtersOf(place.value.query);
  const input = useRef<HTMLInputElement>(null);
  const [text, setText] = useState(asked);
  useEffect(() => setText(asked), [asked]);
  useKey('/', () => input.current?.focus());
  const set = (changes: Readonly<Record<string, string | undefined>>): void =>
    setQuery({ ...changes, page: undefined });
  return (
    <search>
      <form
        class="toolbar"
        onSubmit={(event) => {
          event.preventDefault();
          set({ q: text });
        }}
      >
        <input
          ref={input}
          type="search"
          aria-label="Part of the message, or of the ID of a run"
          placeholder="Part of the message, or of the ID of a run"
          value={text}
          onInput={(event) => setText(event.currentTarget.value)}
          onBlur={() => text !== asked && set({ q: text })}
        />
        <TriggerChoice value={trigger} change={(value) => set({ trigger: value })} />
        <Choice
          label="With a delivery that is"
          value={outcome}
          change={(value) => set({ outcome: value })}
          options={[
            ['', 'anything'],
            ...(['pending', 'delivered', 'partly_delivered', 'dead', 'cancelled'] as const).map(outcomeOption),
          ]}
        />
        <SinceChoice value={since} change={(value) => set({ since: value })} />
      </form>
    </search>
  );
}

const knownColumns = new Map<string, readonly Column<Event>[]>();

function columnsOf(room: Room): readonly Column<Event>[] {
  const key = room.base.join('/');
  const known = knownColumns.get(key);
  if (known !== undefined) return known;
  const made: readonly Column<Event>[] = [
    {
      key: 'message',
      title: 'Event',
      cell: ({ id, message, sample, erasedAt }) => (
        <>
          <Link to={roomAddress(room, ['events', id])} data-row-link>
            <Text of={erasedAt === null ? message.slice(0, 200) : 'content erased'} />
          </Link>
          {sample && <small> sample</small>}
        </>
      ),
    },
    { key: 'trigger', title: 'Trigger', cell: ({ trigger }) => <Text of={trigger} /> },
    { key: 'when', title: 'Accepted', cell: ({ createdAt }) => <Time at={createdAt} /> },
    { key: 'deliveries', title: 'Deliveries', cell: ({ deliveries }) => <Outcomes of={deliveries} /> },
  ];
  knownColumns.set(key, made);
  return made;
}

/** How many deliveries have each outcome. */
function Outcomes({ of }: { readonly of: Event['deliveries'] }) {
  if (of.length === 0) return <span class="secondary">nobody was notified</span>;
  const kinds = [...new Set(of.map(({ outcome }) => outcome))];
  return (
    <span class="chips">
      {kinds.map((outcome) => {
        const { mark, word } = outcomeWords({ outcome });
        const count = of.filter((each) => each.outcome === outcome).length;
        return <Words key={outcome} words={{ mark, word: `${count} ${word.toLowerCase()}`, detail: '' }} />;
      })}
    </span>
  );
}

/** One event: its content, who was notified, and who was not and why. */
export function EventScreen({ room, id }: { readonly room: Room; readonly id: string }) {
  const event = useRead(`event-waiting:${id}`, { waits: true, read: (how) => box.events.show(id, how) });
  const known = event.state.value.value;
  return (
    <RoomScreen
      room={room}
      title={known?.trigger ?? id}
      beside={
        known !== undefined && (
          <>
            {known.sample && <span class="chip">sample</span>}
            <span class="secondary">
              accepted <Time at={known.createdAt} />
            </span>
            <span class="room" />
            <div class="actions">
              {!room.isPortal && (
                <Link class="button" to={timelineOfEvent(room, id)}>
                  Timeline
                </Link>
              )}
              {!known.sample && (
                <Link class="button" to={roomAddress(room, ['explain'], { event: id })}>
                  Explain and fix
                </Link>
              )}
              {mayAdminister(room) && known.erasedAt === null && (
                <button type="button" class="danger" onClick={() => askErase(known, event.refresh)}>
                  Erase the content…
                </button>
              )}
            </div>
          </>
        )
      }
    >
      <View
        reading={event}
        what="the event"
        needs="admin or portal on the workspace"
        gone={<Link to={roomAddress(room, ['events'])}>The events of the workspace</Link>}
      >
        {(value) =>
          value.workspaceId === room.workspace ? (
            <EventFacts room={room} event={value} />
          ) : (
            <div class="state">
              <p>This workspace has no such event.</p>
            </div>
          )
        }
      </View>
    </RoomScreen>
  );
}

function askErase({ id }: Details, refresh: () => Promise<void>): void {
  ask({
    title: 'Erase the content of the event',
    body: (
      <p>
        The content of the event and the answers of its deliveries are removed, and what waits is cancelled. The record
        stays. It cannot be undone.
      </p>
    ),
    action: 'Erase',
    isDestructive: true,
    typed: id,
    run: () => box.events.erase(id),
    after: () => {
      announce('The content is erased');
      void refresh();
    },
  });
}

function EventFacts({ room, event }: { readonly room: Room; readonly event: Details }) {
  const { id, message, attributes, attempts, explanationsAtAcceptance, erasedAt, idempotencyKey, sample } = event;
  const names = namesOf(event);
  const others = notNotified(event);
  const content = JSON.stringify(attributes, null, 2);
  return (
    <>
      <div class="panel">
        <p>
          <Text of={message} />
        </p>
        <p>
          <Id of={id} what="the event's ID" />{' '}
          {idempotencyKey !== null && (
            <small>
              idempotency key <Text of={idempotencyKey} />
            </small>
          )}
        </p>
      </div>
      <section class="panel" aria-label="Notified">
        <h2>Notified</h2>
        {attempts.length === 0 && <p>Nobody was notified.</p>}
        {attempts.map((delivery) => (
          <div class="line" key={delivery.id}>
            <span class="what">
              <Link to={roomAddress(room, ['deliveries', delivery.id])}>
                <Text of={names.get(delivery.configurationId) ?? delivery.configurationId} />
              </Link>
            </span>
            <DeliveryState of={delivery} />
            <span>
              {delivery.attemptCount} {delivery.attemptCount === 1 ? 'try' : 'tries'}
              {delivery.lastStatus === null ? '' : `, last answer ${delivery.lastStatus}`}
            </span>
          </div>
        ))}
      </section>
      {!sample && others.length > 0 && (
        <section class="panel" aria-label="Not notified">
          <h2>Not notified</h2>
          {others.map(({ configurationId, name, reason, now }) => (
            <div class="line" key={configurationId}>
              <span class="what">
                <Link to={roomAddress(room, ['c', configurationId])}>
                  <Text of={name} />
                </Link>
              </span>
              <span>
                {reason} {now !== '' && <small>({now})</small>}
              </span>
            </div>
          ))}
          <p class="hint">
            {explanationsAtAcceptance === null
              ? 'The reasons are those of the configurations as they are now.'
              : 'The reasons are those of when the event was accepted.'}
          </p>
        </section>
      )}
      <section class="panel" aria-label="Content">
        <h2>Content</h2>
        {erasedAt === null ? (
          <>
            <p>
              Attributes, as filters see them <Copy value={content} what="the attributes" />
            </p>
            <pre class="payload" tabIndex={0}>
              <LongText of={content} />
            </pre>
          </>
        ) : (
          <p>
            Erased <Time at={erasedAt} />.
          </p>
        )}
      </section>
    </>
  );
}
