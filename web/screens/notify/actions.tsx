import type { ResultAsync } from 'neverthrow';
import { useState } from 'preact/hooks';
import { box, messageOf } from '../../app/engine.js';
import { Link, navigate } from '../../app/router.js';
import { ask } from '../../parts/dialog.js';
import { Copy, LongText, Text } from '../../parts/text.js';
import { announce } from '../../parts/toasts.js';
import { counted } from '../../rules/durations.js';
import { failureName, failureRemedy } from '../../rules/notification-words.js';
import { visible } from '../../rules/safe-text.js';
import { declarationOf, triggers } from './requests.js';
import { type Configuration, type Room, roomAddress, useEventTypes } from './room.js';

/** The result of an action: what was done, or the error of the call. */
export type Outcome =
  | { readonly done: string }
  | { readonly failed: string; readonly error: { readonly type: string } };

type Verification = { readonly cause: string; readonly response: Configuration['response'] };

function verificationOf(error: { readonly type: string }): Verification | undefined {
  return error.type === 'verification_failed' && 'cause' in error && 'response' in error
    ? (error as typeof error & Verification)
    : undefined;
}

/** The faults of an error, if it has any. */
export function faultsOf(error: {
  readonly type: string;
}): readonly { readonly pointer: string; readonly message: string }[] {
  if (error.type !== 'invalid_attributes' || !('faults' in error) || !Array.isArray(error.faults)) return [];
  return error.faults;
}

/** What came of an action: the sentence, and after a failed verification the answer, its class and what to change. */
export function OutcomePanel({ outcome }: { readonly outcome: Outcome | undefined }) {
  if (outcome === undefined) return null;
  if ('done' in outcome)
    return (
      <p class="notice good" role="status">
        {outcome.done}
      </p>
    );
  const { failed, error } = outcome;
  const verification = verificationOf(error);
  const faults = faultsOf(error);
  return (
    <div class="notice failed" role="alert">
      <p>
        <strong>{failed}</strong>{' '}
        {faults.length === 0 ? (
          <Text of={messageOf(error)} />
        ) : (
          faults.map(({ message }) => <Text key={message} of={`${message}. `} />)
        )}
      </p>
      {verification !== undefined && <VerificationFacts {...verification} />}
    </div>
  );
}

function VerificationFacts({ cause, response }: Verification) {
  return (
    <>
      <p>
        Class: {failureName(cause)} <code>{cause}</code>. {failureRemedy(cause)}
      </p>
      {response !== null && <ResponseFacts response={response} />}
    </>
  );
}

/** The answer to a verification request, as text. */
export function ResponseFacts({ response }: { readonly response: NonNullable<Configuration['response']> }) {
  const type = response.headers['content-type']?.join(', ');
  return (
    <details>
      <summary>
        Its answer: {response.code || 'none'}
        {type !== undefined && (
          <>
            , <Text of={type} />, shown as text
          </>
        )}
      </summary>
      <pre>{response.body === '' ? <span class="secondary">empty</span> : <LongText of={response.body} />}</pre>
    </details>
  );
}

interface ActionsProps {
  readonly room: Room;
  readonly configuration: Configuration;
  /** Reads the configuration again, so that its health shows. */
  readonly refresh: () => Promise<void>;
  readonly show: (outcome: Outcome | undefined) => void;
}

/** What can be done with a configuration, in its present state. */
export function ConfigurationActions({ room, configuration, refresh, show }: ActionsProps) {
  const [busy, setBusy] = useState('');
  const { id, enabled, health, kind } = configuration;
  const act = async (
    name: string,
    call: () => ResultAsync<unknown, { readonly type: string }>,
    done: string,
    failed: string,
  ) => {
    setBusy(name);
    show(undefined);
    const result = await call();
    await refresh();
    setBusy('');
    show(result.isOk() ? { done } : { failed, error: result.error });
  };
  const button = (
    name: string,
    call: () => ResultAsync<unknown, { readonly type: string }>,
    done: string,
    failed: string,
  ) => (
    <button type="button" disabled={busy !== ''} onClick={() => void act(name, call, done, failed)}>
      {busy === name ? `${name}…` : name}
    </button>
  );
  const nothing = 'Nothing was changed.';
  return (
    <div class="actions">
      {!enabled &&
        button(
          'Enable',
          () => box.notifications.enable(id),
          'It is enabled: the destination has answered its verification.',
          `It was not enabled. ${nothing}`,
        )}
      {button(
        'Verify',
        () => box.notifications.verify(id),
        kind === 'email' ? 'The test mail was sent.' : 'The destination has accepted the verification request.',
        'The verification failed.',
      )}
      {enabled &&
        (health.paused
          ? button(
              'Resume',
              () => box.notifications.resume(id),
              'It sends again; what waited is sent in order.',
              nothing,
            )
          : button(
              'Pause',
              () => box.notifications.pause(id),
              'It is paused: events are kept until it is resumed.',
              nothing,
            ))}
      {enabled && (
        <button type="button" onClick={() => void askDisable(configuration, refresh)}>
          Disable…
        </button>
      )}
      <Link class="button" to={roomAddress(room, ['c', id, 'edit'])}>
        Edit
      </Link>
      <Copy value={declarationOf(configuration)} what="the declaration" label="Copy as declaration" />
      <button type="button" class="danger" onClick={() => void askDelete(room, configuration)}>
        Delete…
      </button>
    </div>
  );
}

/** How many deliveries wait, in words; at most 100 are counted. */
async function waitingOf({ id }: Configuration): Promise<{ readonly count: number; readonly words: string }> {
  const read = await box.deliveries.list(id, { outcome: 'pending', pageSize: 100 });
  if (read.isErr()) return { count: 1, words: 'what waits' };
  const { items, nextPage } = read.value;
  return {
    count: items.length,
    words: `${nextPage === null ? '' : 'more than '}${counted(items.length, 'delivery', 'deliveries')}`,
  };
}

async function askDisable(configuration: Configuration, refresh: () => Promise<void>): Promise<void> {
  const waiting = await waitingOf(configuration);
  ask({
    title: `Disable ${visible(configuration.name)}`,
    body: (
      <p>
        It gets no more notifications.{' '}
        {waiting.count === 0
          ? 'Nothing waits for it.'
          : `This cancels ${waiting.words} that wait; they can be sent again.`}{' '}
        To keep them, pause it instead.
      </p>
    ),
    action: 'Disable',
    isDestructive: true,
    run: () => box.notifications.update(configuration.id, { enabled: false }),
    after: () => {
      announce('It is disabled');
      void refresh();
    },
  });
}

async function askDelete(room: Room, configuration: Configuration): Promise<void> {
  const { id, name } = configuration;
  const waiting = await waitingOf(configuration);
  // A name with hidden characters cannot be typed.
  const typed = visible(name) === name && name.trim() === name ? name : id;
  ask({
    title: `Delete ${visible(name)}`,
    body: (
      <p>
        This removes the configuration
        {waiting.count === 0 ? '; nothing waits for it.' : ` and cancels ${waiting.words} that wait.`} It cannot be
        undone.
      </p>
    ),
    action: 'Delete',
    isDestructive: true,
    ...(waiting.count === 0 ? {} : { typed }),
    run: () => box.notifications.delete(id),
    after: () => {
      announce(`${visible(name)} is deleted`);
      navigate(roomAddress(room));
    },
  });
}

/** Sends the example of an event to this configuration, and goes to its delivery. */
export function TestForm({ room, configuration, show }: Omit<ActionsProps, 'refresh'>) {
  const types = useEventTypes().state.value.value ?? [];
  const own = configuration.triggers;
  const [trigger, setTrigger] = useState(own[0] ?? 'run:completed');
  const [isBusy, setBusy] = useState(false);
  const send = async (event: Event): Promise<void> => {
    event.preventDefault();
    setBusy(true);
    show(undefined);
    const sent = await box.notifications.sendSample(configuration.id, { trigger });
    setBusy(false);
    sent.match(
      ({ id }) => navigate(roomAddress(room, ['deliveries', id])),
      (error) => show({ failed: 'No sample was sent.', error }),
    );
  };
  const others = triggers.filter(({ value }) => !own.includes(value));
  if (!configuration.enabled) return <p class="hint">A sample can be sent once the configuration is enabled.</p>;
  return (
    <form class="toolbar" onSubmit={(event) => void send(event)}>
      <label>
        Send a sample of{' '}
        <select value={trigger} onChange={(event) => setTrigger(event.currentTarget.value)}>
          {own.length > 0 && (
            <optgroup label="Triggers of this configuration">
              {own.map((each) => (
                <option key={each} value={each}>
                  {each}
                </option>
              ))}
            </optgroup>
          )}
          <optgroup label="Other triggers">
            {others.map(({ value, displayName }) => (
              <option key={value} value={value}>
                {value} ({displayName})
              </option>
            ))}
          </optgroup>
          {types.length > 0 && (
            <optgroup label="Event types">
              {types.map(({ name, example }) => (
                <option key={name} value={name} disabled={example === null}>
                  {name}
                  {example === null ? ' (has no example)' : ''}
                </option>
              ))}
            </optgroup>
          )}
        </select>
      </label>
      <button type="submit" disabled={isBusy}>
        Test
      </button>
      <span class="hint">It is marked as a sample and goes through the queue like every delivery.</span>
    </form>
  );
}

/** The one obvious action of a configuration in a list. A failure is shown on its screen. */
export function QuickAction({ room, configuration, refresh }: Omit<ActionsProps, 'show'>) {
  const [isBusy, setBusy] = useState(false);
  const { id, name, enabled, health } = configuration;
  const [action, call] = !enabled
    ? (['Enable', () => box.notifications.enable(id)] as const)
    : health.paused
      ? (['Resume', () => box.notifications.resume(id)] as const)
      : (['Verify', () => box.notifications.verify(id)] as const);
  const run = async (): Promise<void> => {
    setBusy(true);
    const result = await call();
    await refresh();
    setBusy(false);
    result.match(
      () => announce(`${action}: done`),
      (error) =>
        announce(`${action}: ${visible(messageOf(error))}`, {
          label: 'Details',
          run: () => navigate(roomAddress(room, ['c', id])),
        }),
    );
  };
  return (
    <button type="button" disabled={isBusy} aria-label={`${action} ${visible(name)}`} onClick={() => void run()}>
      {isBusy ? `${action}…` : action}
    </button>
  );
}
