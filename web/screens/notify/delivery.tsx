import { useEffect, useRef, useState } from 'preact/hooks';
import { box, type ValueOf } from '../../app/engine.js';
import { useRead } from '../../app/read.js';
import { Link, place, setQuery } from '../../app/router.js';
import { exactTime, millisecondsOf, serverNow, Time } from '../../app/time.js';
import { ask } from '../../parts/dialog.js';
import { Facts } from '../../parts/form.js';
import { Copy, Id, LongText, Text } from '../../parts/text.js';
import { announce } from '../../parts/toasts.js';
import { View } from '../../parts/view.js';
import { bytesText, durationText } from '../../rules/durations.js';
import {
  destinationText,
  failureName,
  failureRemedy,
  namesOf,
  notNotified,
  outcomeWords,
  redeliveryText,
  waitText,
} from '../../rules/notification-words.js';
import { useConfiguration } from './configuration.js';
import { DeliveryState } from './deliveries.js';
import { curlCommand } from './requests.js';
import { type Configuration, Health, type Room, RoomScreen, roomAddress, timelineOfEvent, Words } from './room.js';
import { verifySnippet } from './verify-snippet.js';

type Details = ValueOf<typeof box.deliveries.show>;
type Attempt = Details['attempts'][number];

export function DeliveryScreen({ room, id }: { readonly room: Room; readonly id: string }) {
  const delivery = useRead(`delivery:${id}`, { waits: true, read: (how) => box.deliveries.show(id, how) });
  const known = delivery.state.value.value;
  return (
    <RoomScreen
      room={room}
      title={known === undefined ? id : `Delivery of ${known.trigger}`}
      beside={
        known !== undefined && (
          <>
            <DeliveryState of={known} />
            {known.sample && <span class="chip">sample</span>}
            {!room.isPortal && (
              <Link class="button" to={timelineOfEvent(room, known.eventId)}>
                Timeline
              </Link>
            )}
          </>
        )
      }
    >
      <View
        reading={delivery}
        what="the delivery"
        needs="admin or portal on the workspace"
        gone={
          <>
            <p>Deliveries are kept for some days after their end.</p>
            <Link to={roomAddress(room, ['deliveries'])}>The deliveries of the workspace</Link>
          </>
        }
      >
        {(value) =>
          value.workspaceId === room.workspace ? (
            <Delivered room={room} delivery={value} refresh={delivery.refresh} />
          ) : (
            <div class="state">
              <p>This workspace has no such delivery.</p>
            </div>
          )
        }
      </View>
    </RoomScreen>
  );
}

interface DeliveredProps {
  readonly room: Room;
  readonly delivery: Details;
  readonly refresh: () => Promise<void>;
}

function Delivered({ room, delivery, refresh }: DeliveredProps) {
  const owner = useConfiguration(delivery.configurationId).state.value.value;
  const { attempts, eventId, createdAt, settledAt, recipients } = delivery;
  const chosen = Number(place.value.query.get('try'));
  const attempt = attempts.find(({ number }) => number === chosen) ?? attempts.at(-1);
  useNewAttempts(attempts);
  return (
    <>
      <div class="panel">
        <div class="line">
          <span class="what">
            To{' '}
            <Link to={roomAddress(room, ['c', delivery.configurationId])}>
              <Text of={owner?.name ?? delivery.configurationId} />
            </Link>{' '}
            {owner !== undefined && (
              <>
                <small>
                  <Text of={destinationText(owner)} />
                </small>{' '}
                <Health of={owner} lastStatus={delivery.lastStatus} />
              </>
            )}
          </span>
          <Actions delivery={delivery} owner={owner} attempt={attempt} refresh={refresh} />
        </div>
        <NextTry delivery={delivery} />
        <div class="line">
          <span>
            Accepted <Time at={createdAt} />
          </span>
          {settledAt !== null && (
            <span>
              Ended <Time at={settledAt} />
            </span>
          )}
          <span>
            Event{' '}
            <Link to={roomAddress(room, ['events', eventId])}>
              <Text of={eventId} />
            </Link>
          </span>
          <Id of={delivery.id} what="the delivery's ID" />
        </div>
        <SameEvent room={room} delivery={delivery} />
      </div>
      {attempts.length === 0 ? (
        <p class="notice">There was no try yet.</p>
      ) : (
        <Attempts attempts={attempts} chosen={attempt?.number ?? 0} />
      )}
      {recipients.length > 0 && <Recipients recipients={recipients} />}
      <div class="columns">
        <RequestPanel attempt={attempt} body={delivery.body} owner={owner} />
        {attempt !== undefined && <AnswerPanel attempt={attempt} />}
      </div>
    </>
  );
}

/** Says the result of a try that is made while one watches. */
function useNewAttempts(attempts: readonly Attempt[]): void {
  const last = attempts.at(-1);
  const seen = useRef(last?.number);
  useEffect(() => {
    if (last === undefined || seen.current === last.number) return;
    seen.current = last.number;
    announce(`Try ${last.number}: ${last.failure === null ? 'accepted' : failureName(last.failure.class)}`);
  }, [last?.number]);
}

/** When the next try is, as it counts down, and what it waits for. */
function NextTry({ delivery: { outcome, waitsFor, nextAttemptAt } }: { readonly delivery: Details }) {
  if (outcome !== 'pending') return null;
  const at = millisecondsOf(waitsFor?.until ?? nextAttemptAt);
  const left = at === undefined ? 0 : at - serverNow.value;
  return (
    <p class="notice waiting">
      {at !== undefined && left > 0 ? (
        <>
          Next try in {durationText(Math.max(1000, left))}, at {exactTime(at)}
        </>
      ) : (
        'The next try is due'
      )}
      {waitsFor !== null && `: ${waitText(waitsFor)}`}.
    </p>
  );
}

interface ActionsProps {
  readonly delivery: Details;
  readonly owner: Configuration | undefined;
  readonly attempt: Attempt | undefined;
  readonly refresh: () => Promise<void>;
}

function Actions({ delivery, owner, attempt, refresh }: ActionsProps) {
  const redeliver = (): void =>
    ask({
      title: 'Redeliver now',
      body: <p>{redeliveryText(delivery)}</p>,
      action: 'Redeliver now',
      run: () => box.deliveries.redeliver(delivery.id),
      after: () => {
        announce('One more try is asked for');
        // The answer belongs to the newest try.
        setQuery({ try: undefined });
        void refresh();
      },
    });
  return (
    <div class="actions">
      {owner?.enabled === true && (
        <button type="button" class="primary" onClick={redeliver}>
          Redeliver now…
        </button>
      )}
      {owner?.enabled === false && <span class="hint">To redeliver, enable the configuration.</span>}
      {attempt?.request != null && (
        <Copy
          value={curlCommand(attempt, delivery.body, owner?.url ?? null)}
          what="the request as curl"
          label="Copy as curl"
        />
      )}
    </div>
  );
}

/** Who else was notified of the event, and who was not. */
function SameEvent({ room, delivery }: { readonly room: Room; readonly delivery: Details }) {
  const event = useRead(`event:${delivery.eventId}`, {
    read: ({ signal }) => box.events.show(delivery.eventId, { signal }),
  });
  useEffect(() => void event.refresh(), [delivery.outcome]);
  const known = event.state.value.value;
  if (known === undefined) return null;
  const names = namesOf(known);
  const others = known.deliveries.filter(({ id }) => id !== delivery.id);
  const missed = notNotified(known);
  if (others.length + missed.length === 0) return null;
  return (
    <div class="line">
      <span>Same event to:</span>
      {others.map(({ id, configurationId, outcome }) => (
        <Link key={id} to={roomAddress(room, ['deliveries', id])}>
          <Text of={names.get(configurationId) ?? configurationId} /> <Words words={outcomeWords({ outcome })} />
        </Link>
      ))}
      {missed.map(({ configurationId, name, reason }) => (
        <span key={configurationId}>
          <Text of={name} /> <small>not notified: {reason}</small>
        </span>
      ))}
    </div>
  );
}

function Attempts({ attempts, chosen }: { readonly attempts: readonly Attempt[]; readonly chosen: number }) {
  return (
    <section class="panel scroll" aria-label="Tries">
      <table>
        <thead>
          <tr>
            <th scope="col">Try</th>
            <th scope="col">When</th>
            <th scope="col" class="number">
              Took
            </th>
            <th scope="col">Answer</th>
            <th scope="col">Address</th>
            <th scope="col">Result</th>
          </tr>
        </thead>
        <tbody>
          {attempts.map(({ number, manual, startedAt, total, status, address, failure }) => (
            <tr key={number} class={number === chosen ? 'selected' : ''}>
              <td>
                <button
                  type="button"
                  class="quiet"
                  aria-pressed={number === chosen}
                  onClick={() => setQuery({ try: String(number) })}
                >
                  {number}
                  {manual && <small>by hand</small>}
                </button>
              </td>
              <td title={exactTime(Date.parse(startedAt))}>
                {exactTime(Date.parse(startedAt)).slice(11, 19)}{' '}
                <small>
                  <Time at={startedAt} />
                </small>
              </td>
              <td class="number">{durationText(total)}</td>
              <td>{status ?? 'none'}</td>
              <td>{address === null ? <span class="secondary">no connection</span> : <Text of={address} />}</td>
              <td>
                {failure === null ? (
                  'accepted'
                ) : (
                  <>
                    {failureName(failure.class)}{' '}
                    <small>
                      <Text of={failure.message} />
                    </small>
                  </>
                )}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      {attempts.length >= 50 && <p class="hint">The newest 50 tries are kept.</p>}
    </section>
  );
}

function Recipients({ recipients }: { readonly recipients: Details['recipients'] }) {
  return (
    <section class="panel" aria-label="Recipients">
      <h2>Recipients</h2>
      {recipients.map(({ userId, outcome, message, at }) => (
        <div class="line" key={userId}>
          <span class="what">
            <Text of={userId} />
          </span>
          <span>{outcome}</span>
          {message !== null && <Text of={message} />}
          <Time at={at} />
        </div>
      ))}
    </section>
  );
}

interface RequestProps {
  readonly attempt: Attempt | undefined;
  readonly body: string | null;
  readonly owner: Configuration | undefined;
}

/** The request as it was sent; secrets are masked by the server. */
function RequestPanel({ attempt, body, owner }: RequestProps) {
  const request = attempt?.request ?? null;
  // A try keeps the origin alone; the whole address is that of a configuration that was not changed since.
  const isUnchanged = owner !== undefined && attempt !== undefined && owner.updatedAt <= attempt.startedAt;
  const address = (isUnchanged ? owner.url : undefined) ?? attempt?.destination ?? '';
  return (
    <section class="panel" aria-label="Request">
      <h2>Request</h2>
      {request !== null && (
        <>
          <p>
            <code>
              {request.method} <Text of={address} />
            </code>
          </p>
          <Headers of={Object.entries(request.headers)} />
        </>
      )}
      {owner !== undefined && attempt !== undefined && <Verify owner={owner} attempt={attempt} />}
      {body === null ? (
        <p class="secondary">The body can no longer be rendered.</p>
      ) : (
        <>
          <p>
            Body{request === null ? '' : `, ${bytesText(request.bodyBytes)}`} <Copy value={body} what="the body" />
          </p>
          <pre class="payload" tabIndex={0}>
            <LongText of={body} />
          </pre>
        </>
      )}
    </section>
  );
}

/** A program that verifies the request; without a signature, why there is none. */
function Verify({ owner, attempt }: { readonly owner: Configuration; readonly attempt: Attempt }) {
  const [isOpen, setOpen] = useState(false);
  const snippet = verifySnippet(owner, attempt.request);
  if ('why' in snippet) return <p class="hint">{snippet.why}</p>;
  return (
    <details onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>Verify the signature</summary>
      {isOpen && (
        <>
          <p>
            A receiver for Node with the package <code>signalbox</code>, for requests to this configuration. The token
            is not in it. <Copy value={snippet.program} what="the program" label="Copy" />
          </p>
          <pre class="payload" tabIndex={0}>
            {snippet.program}
          </pre>
        </>
      )}
    </details>
  );
}

function AnswerPanel({ attempt }: { readonly attempt: Attempt }) {
  const { status, headersAfter, total, headers, body, truncated, failure } = attempt;
  const type = headers['content-type']?.join(', ');
  return (
    <section class="panel" aria-label="Answer">
      <h2>Answer{status === null ? '' : ` ${status}`}</h2>
      <p>
        {headersAfter === null
          ? `No answer; ended after ${durationText(total)}`
          : `${durationText(headersAfter)} to its headers, ${durationText(total)} in all`}
        {status !== null &&
          `, ${bytesText(new TextEncoder().encode(body).length)}${truncated ? ' (cut: the rest was not kept)' : ''}`}
      </p>
      {failure !== null && failureRemedy(failure.class) !== '' && (
        <p class="notice waiting">{failureRemedy(failure.class)}</p>
      )}
      <Headers of={Object.entries(headers).map(([name, values]) => [name, values.join(', ')])} />
      {status !== null && (
        <>
          <p>
            Body
            {type !== undefined && (
              <>
                {' '}
                of type <Text of={type} />, shown as text
              </>
            )}{' '}
            <Copy value={body} what="the answer" />
          </p>
          <pre class="payload" tabIndex={0}>
            {body === '' ? <span class="secondary">empty</span> : <LongText of={body} />}
          </pre>
        </>
      )}
    </section>
  );
}

function Headers({ of }: { readonly of: readonly (readonly [string, string])[] }) {
  if (of.length === 0) return null;
  return (
    <details>
      <summary>{of.length} headers</summary>
      <Facts
        of={of.map(([name, value]) => [
          <Text of={name} />,
          <code>{value === '[redacted]' ? '●●● (secret)' : <Text of={value} />}</code>,
        ])}
      />
    </details>
  );
}
