import type { Interface } from '../../../src/api/call.js';
import type { Vocabulary } from '../edge/header-names.js';
import type { InterfaceErrors } from './interface-errors.js';
import { jobErrors } from './job-errors.js';
import { notificationErrors } from './notification-errors.js';
import { plainErrorsOf } from './plain-errors.js';

const ofJobs: Readonly<Record<Vocabulary, InterfaceErrors>> = {
  neutral: jobErrors('neutral'),
  upstream: jobErrors('upstream'),
};
const plainOfJobs = plainErrorsOf(ofJobs.neutral);
const plainOfNotifications = plainErrorsOf(notificationErrors);

/** The form of an interface's errors: its own or, if requested, the engine's, which does not depend on the names. */
export function errorsFor(of: Interface, plain: boolean, names: Vocabulary): InterfaceErrors {
  if (of === 'notifications') return plain ? plainOfNotifications : notificationErrors;
  return plain ? plainOfJobs : ofJobs[names];
}
