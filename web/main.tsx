import { effect } from '@preact/signals';
import { render } from 'preact';
import { beginFollowing } from './app/live.js';
import { Page } from './app/pages.js';
import { forgetReads } from './app/read.js';
import { beginSession, session } from './app/session.js';
import './page.css';

let wasSignedIn = false;
effect(() => {
  // Another person may sign in: what the first one has read must not appear.
  if (session.value === 'signed-out' && wasSignedIn) forgetReads();
  wasSignedIn = session.value === 'signed-in';
});
void beginSession();
beginFollowing();
render(<Page />, document.getElementById('page') ?? document.body);
