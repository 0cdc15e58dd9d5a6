import { rights } from '../../app/rights.js';
import { QuestionDialog } from '../../parts/dialog.js';
import { Toasts } from '../../parts/toasts.js';
import { RoomScreens } from '../notify/notify.js';
import { allowed, hasBegun, isFramed, isWaiting } from './tokens.js';

/** What `/ui/portal/WORKSPACE` and everything below it show: the notifications of one workspace for a customer, without the shell and names of others. */
export function PortalPage({ path: [workspace, ...path] }: { readonly path: readonly string[] }) {
  const reason = reasonAgainst(workspace);
  if (reason !== undefined)
    return (
      <main id="main" class="sign-in">
        <h1 tabIndex={-1}>Notifications</h1>
        <p>{reason}</p>
      </main>
    );
  if (!hasBegun.value || rights.value === undefined || workspace === undefined)
    return (
      <main id="main">
        <div class="skeleton" aria-busy="true">
          <span class="sr">Waiting for the page around this one</span>
        </div>
      </main>
    );
  const room = { workspace, base: ['portal', workspace], isPortal: true };
  return (
    <>
      <main id="main">
        {isWaiting.value && (
          <p class="notice waiting" role="status">
            Your access has ended and is being renewed. What you have written is kept.
          </p>
        )}
        <RoomScreens key={workspace} room={room} path={path} />
      </main>
      <QuestionDialog />
      <Toasts />
    </>
  );
}

/** Why nothing can be shown; undefined when all is well. */
function reasonAgainst(workspace: string | undefined): string | undefined {
  if (workspace === undefined) return 'The address names no workspace.';
  if (!isFramed) return 'This page is meant to be shown in a frame of the page of your service, which signs you in.';
  if (allowed.length === 0)
    return 'The server names no pages that may show this one: its operator sets frameAncestors.';
  return undefined;
}
