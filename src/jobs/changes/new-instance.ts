import { unixNanosFromInstant, type WriteMoment } from '../../shared/instant.js';
import type { Job } from '../document/job.js';

/** The row of a new instance of a parent; its status is for the writer to compute. */
export function newInstance(parent: Job, id: string, { index, now }: WriteMoment): Job {
  return {
    ...parent,
    ID: id,
    Name: id,
    ParentID: parent.ID,
    Status: 'pending',
    StatusDescription: '',
    SubmitTime: unixNanosFromInstant(now),
    CreateIndex: index,
    ModifyIndex: index,
    JobModifyIndex: index,
  };
}
