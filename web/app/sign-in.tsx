import { useState } from 'preact/hooks';
import { Dialog } from '../parts/dialog.js';
import { Text } from '../parts/text.js';
import { signIn, signInReason } from './session.js';
import { pageTitle } from './settings.js';

function SignInForm({ isAgain }: { readonly isAgain: boolean }) {
  const [failure, setFailure] = useState('');
  const [isBusy, setBusy] = useState(false);
  const submit = async (event: SubmitEvent): Promise<void> => {
    event.preventDefault();
    const form = event.currentTarget as HTMLFormElement;
    const token = String(new FormData(form).get('token') ?? '').trim();
    if (token === '') return setFailure('Enter the secret of a token.');
    setBusy(true);
    setFailure((await signIn({ token })) ?? '');
    setBusy(false);
    form.reset();
  };
  return (
    <form onSubmit={(event) => void submit(event)} method="post">
      {signInReason.value !== '' && <p class="notice">{signInReason.value}</p>}
      <input
        class="sr"
        type="text"
        name="username"
        autocomplete="username"
        value={pageTitle}
        readOnly
        tabIndex={-1}
        aria-hidden="true"
      />
      <div class="field">
        <label for="token">Token</label>
        <input
          id="token"
          name="token"
          type="password"
          autocomplete="current-password"
          autofocus
          spellcheck={false}
          aria-describedby="token-hint"
          aria-invalid={failure !== ''}
        />
        <small id="token-hint">
          The secret of a token of this server. It is exchanged for a session of 12 hours
          {isAgain ? '; what you have written is kept' : ''}.
        </small>
        {failure !== '' && (
          <p class="error" role="alert">
            <Text of={failure} />
          </p>
        )}
      </div>
      <button type="submit" class="primary" disabled={isBusy}>
        Sign in
      </button>
    </form>
  );
}

/** The form instead of a page, when there was no session. */
export function SignInPage() {
  return (
    <main class="sign-in" id="main">
      <div class="stack">
        <h1 tabIndex={-1}>Sign in to {pageTitle}</h1>
        <SignInForm isAgain={false} />
      </div>
    </main>
  );
}

/** The form above the page, when the session has ended: drafts and the place stay. */
export function SignInAgain() {
  return (
    <Dialog title="Sign in again" close={() => undefined} isFixed>
      <SignInForm isAgain />
    </Dialog>
  );
}
