import type { ComponentChildren } from 'preact';
import { messageOf } from '../app/engine.js';
import { connection } from '../app/live.js';
import type { Reading } from '../app/read.js';
import { callerName } from '../app/rights.js';
import { serverNow } from '../app/time.js';
import { durationText } from '../rules/durations.js';
import { Copy, Text } from './text.js';

interface ViewProps<T> {
  readonly reading: Reading<T>;
  /** What is shown, as part of a sentence: `the jobs`. */
  readonly what: string;
  /** The right that the view needs, for a refusal. */
  readonly needs?: string;
  /** What to say when the record does not exist any more. */
  readonly gone?: ComponentChildren;
  readonly isEmpty?: (value: NonNullable<T>) => boolean;
  readonly empty?: ComponentChildren;
  readonly children: (value: NonNullable<T>) => ComponentChildren;
}

const goneTags = /not_found$/;

/**
 * A view of what was read, in each of its states: loading, empty, failed, forbidden, gone, and what is there, stale or not. A filtered
 * list that is empty is the list's own matter.
 */
export function View<T>({ reading, what, needs, gone, isEmpty, empty, children }: ViewProps<T>) {
  const { value, error, at } = reading.state.value;
  if (error !== undefined && goneTags.test(error.type)) return <Gone what={what}>{gone}</Gone>;
  if (error?.type === 'permission_denied') return <Forbidden what={what} needs={needs} />;
  // A record that does not exist is read as none.
  if (value == null && error === undefined && at !== undefined) return <Gone what={what}>{gone}</Gone>;
  if (value == null)
    return error === undefined ? <Loading what={what} /> : <Failed error={error} what={what} retry={reading.refresh} />;
  return (
    <>
      {error !== undefined && <Stale error={error} at={at} retry={reading.refresh} />}
      {isEmpty?.(value) === true ? <div class="state">{empty ?? <p>There are none.</p>}</div> : children(value)}
    </>
  );
}

function Loading({ what }: { readonly what: string }) {
  return (
    <div class="skeleton" aria-busy="true">
      <span class="sr">Loading {what}</span>
    </div>
  );
}

interface FailedProps {
  readonly error: { readonly type: string };
  readonly what: string;
  readonly retry: () => Promise<void>;
}

function Failed({ error, what, retry }: FailedProps) {
  const message = messageOf(error);
  return (
    <div class="state" role="alert">
      <p>
        Reading {what} failed: <Text of={message} />
      </p>
      <p class="actions">
        <button type="button" onClick={() => void retry()}>
          Try again
        </button>
        <Copy value={`${error.type}: ${message}`} what="the error" label="Copy the error" />
      </p>
    </div>
  );
}

function Forbidden({ what, needs }: { readonly what: string; readonly needs: string | undefined }) {
  return (
    <div class="state">
      <p>You may not read {what}.</p>
      <p>
        {needs === undefined ? 'It needs a right that you do not have' : `It needs ${needs}`}; you are{' '}
        <Text of={callerName.value} />.
      </p>
    </div>
  );
}

function Gone({ what, children }: { readonly what: string; readonly children: ComponentChildren }) {
  return (
    <div class="state">
      <p>The server does not have {what}, or you may not see it.</p>
      {children}
    </div>
  );
}

interface StaleProps {
  readonly error: { readonly type: string };
  readonly at: number | undefined;
  readonly retry: () => Promise<void>;
}

function Stale({ error, at, retry }: StaleProps) {
  // The header says that the server cannot be reached; one notice is enough.
  const age = at === undefined ? '' : ` This is ${durationText(Date.now() - at + 0 * serverNow.value)} old.`;
  if (connection.value.state === 'lost') return <p class="notice waiting">The server cannot be reached.{age}</p>;
  return (
    <div class="notice waiting" role="alert">
      Reading this again failed: <Text of={messageOf(error)} />.{age}{' '}
      <button type="button" onClick={() => void retry()}>
        Try again
      </button>
    </div>
  );
}
