import { JobsScreen } from '../screens/jobs.js';
import { NowScreen } from '../screens/now.js';
import { lazy } from './lazy.js';
import { addressOf, Link, place } from './router.js';
import { Screen, Shell } from './shell.js';

const AccessScreen = lazy(() => import('../screens/access.js').then((each) => each.AccessScreen));
const AllocationScreen = lazy(() => import('../screens/allocation.js').then((each) => each.AllocationScreen));
const BulkScreen = lazy(() => import('../screens/bulk.js').then((each) => each.BulkScreen));
const EditJobScreen = lazy(() => import('../screens/job/edit.js').then((each) => each.EditJobScreen));
const EvaluationScreen = lazy(() => import('../screens/evaluation.js').then((each) => each.EvaluationScreen));
const FunctionRunScreen = lazy(() => import('../screens/functions.js').then((each) => each.FunctionRunScreen));
const FunctionScreen = lazy(() => import('../screens/functions.js').then((each) => each.FunctionScreen));
const FunctionsScreen = lazy(() => import('../screens/functions.js').then((each) => each.FunctionsScreen));
const JobScreen = lazy(() => import('../screens/job/job.js').then((each) => each.JobScreen));
const NewJobScreen = lazy(() => import('../screens/job/edit.js').then((each) => each.NewJobScreen));
const NodeScreen = lazy(() => import('../screens/nodes.js').then((each) => each.NodeScreen));
const NodesScreen = lazy(() => import('../screens/nodes.js').then((each) => each.NodesScreen));
const NotifyScreen = lazy(() => import('../screens/notify/notify.js').then((each) => each.NotifyScreen));
const PortalPage = lazy(() => import('../screens/portal/portal.js').then((each) => each.PortalPage));
const RunScreen = lazy(() => import('../screens/runs.js').then((each) => each.RunScreen));
const ScheduleScreen = lazy(() => import('../screens/schedule.js').then((each) => each.ScheduleScreen));
const TimelineScreen = lazy(() => import('../screens/timeline.js').then((each) => each.TimelineScreen));
const TopologyScreen = lazy(() => import('../screens/topology.js').then((each) => each.TopologyScreen));
const VariablesScreen = lazy(() => import('../screens/variables.js').then((each) => each.VariablesScreen));
const SystemScreen = lazy(() => import('../screens/system.js').then((each) => each.SystemScreen));

export function Page() {
  if (place.value.path[0] === 'portal') return <PortalPage path={place.value.path.slice(1)} />;
  return (
    <Shell>
      <Current />
    </Shell>
  );
}

/** The screen of the address. */
function Current() {
  const { path } = place.value;
  const [first, second, third, fourth = ''] = path;
  if (first === undefined) return <NowScreen />;
  if (first === 'jobs' && second === undefined) return <JobsScreen />;
  if (first === 'jobs' && second === 'new' && third === undefined) return <NewJobScreen />;
  if (first === 'jobs' && second !== undefined && third !== undefined) {
    if (fourth === 'plan') return <EditJobScreen key={`${second}/${third}`} namespace={second} id={third} />;
    return <JobScreen key={`${second}/${third}`} namespace={second} id={third} tab={fourth} />;
  }
  if (first === 'bulk' && second !== undefined) return <BulkScreen id={second} />;
  if (first === 'allocs' && second !== undefined)
    return <AllocationScreen key={second} id={second} below={path.slice(2)} />;
  if (first === 'nodes') return second === undefined ? <NodesScreen /> : <NodeScreen key={second} id={second} />;
  if (first === 'evaluations' && second !== undefined) return <EvaluationScreen key={second} id={second} />;
  if (first === 'topology' && second === undefined) return <TopologyScreen />;
  if (first === 'functions' && second === undefined) return <FunctionsScreen />;
  if (first === 'functions' && second !== undefined && third === 'runs' && fourth !== '')
    return <FunctionRunScreen key={fourth} namespace={second} id={fourth} />;
  if (first === 'functions' && second !== undefined && third !== undefined)
    return <FunctionScreen key={`${second}/${third}`} namespace={second} name={third} />;
  if (first === 'schedule' && second === undefined) return <ScheduleScreen />;
  if (first === 'runs' && second !== undefined && third !== undefined && fourth !== '')
    return <RunScreen key={`${second}/${third}/${fourth}`} namespace={second} job={third} instance={fourth} />;
  if (first === 'timeline' && second === undefined) return <TimelineScreen />;
  if (first === 'access') return <AccessScreen key={path.join('\0')} path={path.slice(1)} />;
  if (first === 'system') return <SystemScreen />;
  if (first === 'variables') return <VariablesScreen key={path.join('\0')} segments={path.slice(1)} />;
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
