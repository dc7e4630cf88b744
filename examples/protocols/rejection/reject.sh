#!/bin/sh
# The task cannot be done as given: the obstacle is outside of it.
looprun reject \
  --task 'Upload the nightly report' --agent uploader --reason-type BLOCKER \
  --summary 'The report cannot be uploaded.' \
  --attempted 'Ran upload.sh with the token from the vault: 403' \
  --attempted 'Renewed the token and ran it again: 403' \
  --blocking-factor 'The storage bucket refuses every write' \
  --evidence 'type=api_response,data=403 AccessDenied,source=PUT /reports' \
  --alternative 'Write the report to the local disk' || exit 2
exit 1
