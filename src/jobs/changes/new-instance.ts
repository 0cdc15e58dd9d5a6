import { unixNanosFromInstant, type WriteStamp } from '../../shared/instant.js';
import type { Job } from '../document/job.js';

/** The row of a new instance of a parent; the writer computes its status. */
export function newInstance(parent: Job, id: string, { index, now }: WriteStamp): Job {
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
