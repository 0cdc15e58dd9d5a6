import { signal } from '@preact/signals';
import type { ResultAsync } from 'neverthrow';
import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { messageOf } from '../app/engine.js';
import { rememberFocus } from '../app/focus.js';
import { FailureNote } from './form.js';
import { Text } from './text.js';

interface Question {
  readonly title: string;
  /** Effect and size of the action. */
  readonly body: ComponentChildren;
  readonly action: string;
  readonly isDestructive?: boolean;
  /** A name that must be typed first. */
  readonly typed?: string;
  /** Carries the action out; answers its result. The dialog stays open with the message of an error. */
  readonly run: () => ResultAsync<unknown, { readonly type: string }>;
  readonly after?: () => void;
}

const question = signal<Question | undefined>(undefined);

/** Asks before an action. Focus begins on Cancel for destructive ones and returns to where it was. */
export function ask(asked: Question): void {
  question.value = asked;
}

export function QuestionDialog() {
  const asked = question.value;
  return asked === undefined ? null : <OpenQuestion key={asked.title} asked={asked} />;
}

function OpenQuestion({ asked }: { readonly asked: Question }) {
  const [typed, setTyped] = useState('');
  const [failure, setFailure] = useState('');
  const [isBusy, setBusy] = useState(false);
  const run = async (event: Event): Promise<void> => {
    event.preventDefault();
    setBusy(true);
    setFailure('');
    const result = await asked.run();
    setBusy(false);
    if (result.isErr()) return setFailure(messageOf(result.error));
    question.value = undefined;
    asked.after?.();
  };
  const isReady = asked.typed === undefined || typed === asked.typed;
  return (
    <Dialog title={asked.title} close={() => (question.value = undefined)}>
      <form onSubmit={(event) => void run(event)}>
        <div class="field">{asked.body}</div>
        {asked.typed !== undefined && (
          <div class="field">
            <label for="typed-name">
              Type{' '}
              <code>
                <Text of={asked.typed} />
              </code>{' '}
              to confirm
            </label>
            <input
              id="typed-name"
              autocomplete="off"
              value={typed}
              onInput={(event) => setTyped(event.currentTarget.value)}
            />
          </div>
        )}
        <FailureNote of={failure} />
        <div class="actions">
          <button type="button" autofocus={asked.isDestructive === true} onClick={() => (question.value = undefined)}>
            Cancel
          </button>
          <button
            type="submit"
            class={asked.isDestructive === true ? 'danger' : 'primary'}
            disabled={!isReady || isBusy}
            autofocus={asked.isDestructive !== true}
          >
            {isBusy ? `${asked.action}…` : asked.action}
          </button>
        </div>
      </form>
    </Dialog>
  );
}

interface DialogProps {
  readonly title: string;
  readonly close: () => void;
  /** Whether Escape and the close event do nothing. */
  readonly isFixed?: boolean;
  readonly children: ComponentChildren;
}

/** A native dialog: the browser keeps the focus inside; it goes back to where it was. */
export function Dialog({ title, close, isFixed = false, children }: DialogProps) {
  const element = useRef<HTMLDialogElement>(null);
  // Before the next key, which is meant for the dialog.
  useLayoutEffect(() => {
    const dialog = element.current;
    const giveBack = rememberFocus();
    dialog?.showModal();
    return () => {
      dialog?.close();
      giveBack();
    };
  }, []);
  const cancel = (event: Event): void => {
    event.preventDefault();
    if (!isFixed) close();
  };
  return (
    <dialog ref={element} aria-labelledby="dialog-title" onCancel={cancel}>
      <div class="stack">
        <h2 id="dialog-title">{title}</h2>
        {children}
      </div>
    </dialog>
  );
}
