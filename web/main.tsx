import { effect } from '@preact/signals';
import { render } from 'preact';
import { keepFocus } from './app/focus.js';
import { beginFollowing } from './app/live.js';
import { Page } from './app/pages.js';
import { forgetReads } from './app/read.js';
import { section } from './app/router.js';
import { beginSession, session } from './app/session.js';
import { beginPortal } from './screens/portal/tokens.js';
import './page.css';

let wasSignedIn = false;
effect(() => {
  // Another person may sign in: what the first one has read must not appear.
  if (session.value === 'signed-out' && wasSignedIn) forgetReads();
  wasSignedIn = session.value === 'signed-in';
});
// In the frame of a host there is no session: the page gets its tokens from there.
if (section.peek() === 'portal') beginPortal();
else {
  void beginSession();
  beginFollowing();
}
keepFocus();
render(<Page />, document.getElementById('page') ?? document.body);
