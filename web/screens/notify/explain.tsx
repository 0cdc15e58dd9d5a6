import { ResultAsync } from 'neverthrow';
import { useEffect, useRef, useState } from 'preact/hooks';
import { box, messageOf, type ValueOf } from '../../app/engine.js';
import { type Reading, useRead } from '../../app/read.js';
import { Link, place, setQuery } from '../../app/router.js';
import { exactServerNow, serverNow, Time } from '../../app/time.js';
import { Mark } from '../../parts/marks.js';
import { Text } from '../../parts/text.js';
import { announce } from '../../parts/toasts.js';
import { View } from '../../parts/view.js';
import { counted } from '../../rules/durations.js';
import { notNotified, obstacleWords, outcomeWords } from '../../rules/notification-words.js';
import { visible } from '../../rules/safe-text.js';
import { type Outcome, OutcomePanel } from './actions.js';
import { useConfigurations } from './configurations.js';
import { DeliveryState } from './deliveries.js';
import { EditLink } from './form.js';
import { askBulk, type CountedBulk, countBulk } from './recoveries.js';
import { eventFilter, exampleOf, type Fix, fixOf, recoverableOutcomes } from './requests.js';
import {
  type Configuration,
  type Delivery,
  Health,
  type Room,
  roomAddress,
  SinceChoice,
  TriggerChoice,
  useEventTypes,
} from './room.js';

type Explanations = ValueOf<typeof box.events.explain>;
type Explanation = Explanations[number];

/** What is explained: an event, or what an event with a trigger would do now. */
interface Explained {
  readonly trigger: string;
  readonly explanations: Explanations;
  /** The deliveries of the event; none for a trigger. */
  readonly deliveries: readonly Delivery[];
  /** When the event was accepted; undefined for a trigger. */
  readonly acceptedAt: string | undefined;
  /** Of those that were not notified of the event, by ID: why not, then. */
  readonly then?: ReadonlyMap<string, string>;
}

/** Why someone was notified or not: of an event that was accepted, or of what would happen now. */
export function ExplainTab({ room }: { readonly room: Room }) {
  const { query } = place.value;
  const event = query.get('event') ?? '';
  const trigger = query.get('trigger') ?? '';
  return (
    <>
      <Choice room={room} event={event} trigger={trigger} asked={query.get('q') ?? ''} />
      {event !== '' ? (
        <OfEvent key={event} room={room} id={event} />
      ) : trigger !== '' ? (
        <OfTrigger key={trigger} room={room} trigger={trigger} />
      ) : null}
    </>
  );
}

interface ChoiceProps {
  readonly room: Room;
  readonly event: string;
  readonly trigger: string;
  readonly asked: string;
}

function Choice({ room, event, trigger, asked }: ChoiceProps) {
  const [text, setText] = useState(asked);
  const events = useRead(`explain-events:${JSON.stringify([room.workspace, asked])}`, {
    read: ({ signal }) =>
      box.events.list(room.workspace, {
        signal,
        pageSize: 10,
        ...(asked === '' ? {} : { filter: eventFilter(asked) }),
      }),
  });
  return (
    <section class="panel" aria-label="What is explained">
      <div class="toolbar">
        <TriggerChoice value={trigger} change={(chosen) => setQuery({ trigger: chosen, event: undefined })} />
        <span class="hint">What would happen now: nothing is sent.</span>
      </div>
      <form
        class="toolbar"
        onSubmit={(submitted) => {
          submitted.preventDefault();
          setQuery({ q: text });
        }}
      >
        <input
          type="search"
          aria-label="A run or a message, to find its events"
          placeholder="Or find what was accepted: part of a message, of a job's name, or of the ID of a run"
          value={text}
          onInput={(typed) => setText(typed.currentTarget.value)}
        />
        <button type="submit">Find</button>
      </form>
      <View
        reading={events}
        what="the events"
        needs="admin or portal on the workspace"
        isEmpty={({ items }) => items.length === 0}
        empty={
          <p>
            {asked === ''
              ? 'No event was accepted in this workspace.'
              : 'No event matches. Runs of a job make events here only if the server is set to report them to this workspace.'}
          </p>
        }
      >
        {({ items }) => (
          <details open={event === '' && trigger === ''}>
            <summary>The newest {counted(items.length, 'event')}</summary>
            {items.map(({ id, trigger: of, message, createdAt, deliveries, sample }) => (
              <div class="line" key={id}>
                <span class="what">
                  <Link
                    to={roomAddress(room, ['explain'], { q: asked, event: id })}
                    {...(id === event ? { 'aria-current': 'page' } : {})}
                  >
                    <Text of={`${of}: ${message.slice(0, 120)}`} />
                  </Link>
                  {sample && <small> sample</small>}
                </span>
                <span>{deliveries.length} notified</span>
                <Time at={createdAt} />
              </div>
            ))}
          </details>
        )}
      </View>
    </section>
  );
}

function OfEvent({ room, id }: { readonly room: Room; readonly id: string }) {
  const event = useRead(`event:${id}`, { read: ({ signal }) => box.events.show(id, { signal }) });
  return (
    <View reading={event} what="the event" needs="admin or portal on the workspace">
      {(value) =>
        value.workspaceId !== room.workspace ? (
          <p class="notice">This workspace has no such event.</p>
        ) : value.sample ? (
          <p class="notice">A sample notifies the one configuration for which it was asked.</p>
        ) : (
          <Answer
            room={room}
            of={{
              trigger: value.trigger,
              explanations: value.explanations,
              deliveries: value.attempts,
              acceptedAt: value.createdAt,
              ...(value.explanationsAtAcceptance === null
                ? {}
                : { then: new Map(notNotified(value).map((each) => [each.configurationId, each.reason])) }),
            }}
            refresh={event.refresh}
          />
        )
      }
    </View>
  );
}

function OfTrigger({ room, trigger }: { readonly room: Room; readonly trigger: string }) {
  const types = useEventTypes();
  const known = types.state.value;
  const example = known.value?.find(({ name }) => name === trigger)?.example ?? null;
  const explained: Reading<Explanations> = useRead(`explain:${JSON.stringify([room.workspace, trigger, example])}`, {
    read: ({ signal }) => box.events.explain(room.workspace, exampleOf(trigger, example), { signal }),
  });
  return (
    <View
      reading={explained}
      what="the explanation"
      needs="admin or portal on the workspace"
      isEmpty={(list) => list.length === 0}
      empty={<p>The workspace has no configurations.</p>}
    >
      {(explanations) => (
        <Answer
          room={room}
          of={{ trigger, explanations, deliveries: [], acceptedAt: undefined }}
          refresh={explained.refresh}
        />
      )}
    </View>
  );
}

interface AnswerProps {
  readonly room: Room;
  readonly of: Explained;
  readonly refresh: () => Promise<void>;
}

function Answer({ room, of, refresh }: AnswerProps) {
  const configurations = useConfigurations(room);
  const [outcome, setOutcome] = useState<Outcome | undefined>(undefined);
  const [isBusy, setBusy] = useState(false);
  const [fixed, setFixed] = useState(0);
  const items = configurations.state.value.value?.items;
  const at = configurations.state.value.at;
  // A configuration that was changed meanwhile, here or by others, changes the answer.
  useEffect(() => void refresh(), [at]);
  const byId = new Map(items?.map((each) => [each.id, each]));
  const fixes = of.explanations.flatMap((explanation) => {
    const configuration = byId.get(explanation.configurationId);
    const fix = configuration && fixOf(configuration, explanation.obstacles, of.trigger);
    return fix?.isWhole === true ? [fix] : [];
  });
  const run = async (name: string, call: () => ResultAsync<unknown, { readonly type: string }>): Promise<boolean> => {
    setBusy(true);
    setOutcome(undefined);
    const result = await call();
    await Promise.all([configurations.refresh(), refresh()]);
    setBusy(false);
    setFixed((count) => count + 1);
    setOutcome(
      result.isOk() ? { done: `${name}: done.` } : { failed: `${name}: nothing was changed.`, error: result.error },
    );
    return result.isOk();
  };
  const apply = ({ id, input }: Fix): ResultAsync<unknown, { readonly type: string }> =>
    box.notifications.update(id, input);
  const fixAll = async (): Promise<void> => {
    for (const fix of fixes) if (!(await run(fix.label, () => apply(fix)))) return;
    const missed = await countMissed(room, of.trigger, of.acceptedAt ?? dayBefore());
    if (missed.isErr()) return setOutcome({ failed: 'What was missed could not be counted.', error: missed.error });
    if (missed.value.length === 0) announce('Fixed; there is nothing to send again');
    else askBulk(room, missed.value, (id) => byId.get(id)?.name ?? id);
  };
  return (
    <>
      <OutcomePanel outcome={outcome} />
      <section class="panel" aria-label="Answer">
        <h2>
          <Text of={of.trigger} />
          {of.acceptedAt !== undefined && (
            <>
              , accepted <Time at={of.acceptedAt} />
            </>
          )}
        </h2>
        {of.explanations.map((explanation) => (
          <Line
            key={explanation.configurationId}
            room={room}
            of={explanation}
            delivery={of.deliveries.find(({ configurationId }) => configurationId === explanation.configurationId)}
            configuration={byId.get(explanation.configurationId)}
            trigger={of.trigger}
            then={of.then?.get(explanation.configurationId)}
            isPast={of.acceptedAt !== undefined}
            isBusy={isBusy}
            run={run}
          />
        ))}
        {of.acceptedAt !== undefined && (
          <p class="hint">Reasons and fixes are those of the configurations as they are now.</p>
        )}
        {fixes.length > 0 && (
          <div class="actions">
            <button type="button" class="primary" disabled={isBusy} onClick={() => void fixAll()}>
              Fix {fixes.length} and redeliver…
            </button>
            <span class="hint">Nothing is sent before you have seen how much.</span>
          </div>
        )}
      </section>
      <Missed
        room={room}
        trigger={of.trigger}
        since={of.acceptedAt}
        version={fixed}
        nameOf={(id) => byId.get(id)?.name ?? id}
      />
    </>
  );
}

interface LineProps {
  readonly room: Room;
  readonly of: Explanation;
  readonly delivery: Delivery | undefined;
  readonly configuration: Configuration | undefined;
  readonly trigger: string;
  /** Why it was not notified of an event, when that was accepted; undefined if it was, or if that is not known. */
  readonly then: string | undefined;
  /** Whether it is about an event that was accepted. */
  readonly isPast: boolean;
  readonly isBusy: boolean;
  readonly run: (name: string, call: () => ResultAsync<unknown, { readonly type: string }>) => Promise<boolean>;
}

function Line({ room, of, delivery, configuration, trigger, then, isPast, isBusy, run }: LineProps) {
  const { configurationId: id, name, fires, obstacles } = of;
  const shown = visible(name);
  const button = (label: string, does: string, call: () => ResultAsync<unknown, { readonly type: string }>) => (
    <button
      type="button"
      disabled={isBusy}
      aria-label={`${label}: ${shown}`}
      onClick={() => void run(`${does} ${shown}`, call)}
    >
      {label}
    </button>
  );
  const held =
    configuration?.enabled === true && (configuration.health.paused || configuration.health.breaker !== 'closed');
  return (
    <div class="line" data-configuration={id}>
      <span class="what">
        <Link to={roomAddress(room, ['c', id])}>
          <Text of={name} />
        </Link>{' '}
        {delivery !== undefined ? (
          <Link to={roomAddress(room, ['deliveries', delivery.id])}>
            <DeliveryState of={delivery} />
          </Link>
        ) : isPast ? (
          <Mark mark="off" word="Was not notified" />
        ) : fires ? (
          <Mark mark="good" word="Would be notified" />
        ) : (
          <Mark mark="failed" word="Would not be notified" />
        )}
        {isPast && delivery === undefined && obstacles.length === 0 && <small> It would be notified now.</small>}
        {isPast && delivery !== undefined && obstacles.length > 0 && <small> It would not be notified now.</small>}
        {then !== undefined && <small> When the event was accepted: {then}.</small>}
      </span>
      {obstacles.map((obstacle) => {
        const { words, field, fix } = obstacleWords(obstacle);
        const repair = configuration && fixOf(configuration, [obstacle], trigger);
        return (
          <span key={obstacle}>
            {words} <small>({field})</small>{' '}
            {repair !== undefined &&
              button(repair.label, repair.label, () => box.notifications.update(repair.id, repair.input))}
            {(fix === 'filter' || fix === 'recipients') && (
              <EditLink room={room} id={id}>
                {fix === 'filter' ? 'Change the filter' : 'Add recipients'}
              </EditLink>
            )}
          </span>
        );
      })}
      {held && configuration !== undefined && (
        <span>
          <Health of={configuration} />{' '}
          {configuration.health.paused
            ? button('Resume', 'Resume', () => box.notifications.resume(id))
            : button('Verify', 'Verify', () => box.notifications.verify(id))}
        </span>
      )}
    </div>
  );
}

const dayBefore = (): string => new Date(serverNow.peek() - 86_400_000).toISOString();

/** What ended without success in the enabled configurations since a time, by outcome. */
function countMissed(
  room: Room,
  trigger: string,
  since: string,
): ResultAsync<readonly CountedBulk[], { readonly type: string }> {
  const until = exactServerNow();
  const counts = recoverableOutcomes.map((outcome) =>
    countBulk(room, { outcome, since, trigger, status: '', configuration: '' }, until),
  );
  return ResultAsync.combine(counts).map((all) => all.filter(({ count }) => count > 0));
}

interface MissedProps {
  readonly room: Room;
  readonly trigger: string;
  readonly since: string | undefined;
  /** Counts fixes, after each of which more can be sent again. */
  readonly version: number;
  readonly nameOf: (configuration: string) => string;
}

/** What was missed: deliveries that ended without success, counted and sent again. */
function Missed({ room, trigger, since: acceptedAt, version, nameOf }: MissedProps) {
  const [since, setSince] = useState(acceptedAt ?? dayBefore());
  const [found, setFound] = useState<readonly CountedBulk[] | undefined>(undefined);
  const [failure, setFailure] = useState('');
  const latest = useRef(0);
  useEffect(() => {
    latest.current += 1;
    const turn = latest.current;
    setFound(undefined);
    setFailure('');
    if (since === '') return setFailure('Choose a time from which on.');
    const count = async (): Promise<void> => {
      const result = await countMissed(room, trigger, since);
      if (turn === latest.current) result.match(setFound, (error) => setFailure(messageOf(error)));
    };
    void count();
  }, [since, trigger, version]);
  const total = found?.reduce((sum, { count }) => sum + count, 0) ?? 0;
  return (
    <section class="panel" aria-label="What was missed">
      <h2>What was missed</h2>
      <div class="toolbar">
        <SinceChoice value={since} change={setSince} />
        <span role="status">
          {failure !== '' ? (
            <Text of={failure} />
          ) : found === undefined ? (
            'Counting…'
          ) : total === 0 ? (
            'Nothing that enabled configurations were sent of this event ended without success.'
          ) : (
            found
              .map(({ bulk, count }) => `${count} ${outcomeWords({ outcome: bulk.outcome }).word.toLowerCase()}`)
              .join(', ')
          )}
        </span>
        {total > 0 && (
          <button type="button" class="primary" onClick={() => askBulk(room, found ?? [], nameOf)}>
            Send {total} again…
          </button>
        )}
      </div>
      <p class="hint">
        An event that a configuration did not ask for when it was accepted made no delivery to it, so there is none to
        send again.
      </p>
    </section>
  );
}
