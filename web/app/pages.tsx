import { EditJobScreen, NewJobScreen } from '../screens/job/edit.js';
import { JobScreen } from '../screens/job/job.js';
import { JobsScreen } from '../screens/jobs.js';
import { NotifyScreen } from '../screens/notify/notify.js';
import { PortalPage } from '../screens/portal/portal.js';
import { addressOf, Link, place } from './router.js';
import { Screen, Shell } from './shell.js';

export function Page() {
  if (place.value.path[0] === 'portal') return <PortalPage path={place.value.path.slice(1)} />;
  return (
    <Shell>
      <Current />
    </Shell>
  );
}

function Current() {
  const { path } = place.value;
  const [first, second, third, fourth = ''] = path;
  if (first === 'jobs' && second === undefined) return <JobsScreen />;
  if (first === 'jobs' && second === 'new' && third === undefined) return <NewJobScreen />;
  if (first === 'jobs' && second !== undefined && third !== undefined) {
    if (fourth === 'plan') return <EditJobScreen key={path.join('/')} namespace={second} id={third} />;
    return <JobScreen key={`${second}/${third}`} namespace={second} id={third} tab={fourth} />;
  }
  if (first === 'notify') return <NotifyScreen path={path.slice(1)} />;
  return <NotFound />;
}

function NotFound() {
  return (
    <Screen title="Not found">
      <div class="state">
        <p>There is no page at this address.</p>
        <p>
          <Link to={addressOf([])}>Now</Link> or <Link to={addressOf(['jobs'])}>Jobs</Link>
        </p>
      </div>
    </Screen>
  );
}
