import type { Interface } from '../../../src/api/call.js';
import type { InterfaceErrors } from './interface-errors.js';
import { jobErrors } from './job-errors.js';
import { notificationErrors } from './notification-errors.js';
import { plainErrorsOf } from './plain-errors.js';

const ofInterface: Readonly<Record<Interface, InterfaceErrors>> = {
  jobs: jobErrors,
  system: jobErrors,
  notifications: notificationErrors,
};

const plainOfInterface: Readonly<Record<Interface, InterfaceErrors>> = {
  jobs: plainErrorsOf(jobErrors),
  system: plainErrorsOf(jobErrors),
  notifications: plainErrorsOf(notificationErrors),
};

/** How errors of an interface are printed: in its own form, or plain for those who asked for that. */
export function errorsFor(of: Interface, plain: boolean): InterfaceErrors {
  return (plain ? plainOfInterface : ofInterface)[of];
}
