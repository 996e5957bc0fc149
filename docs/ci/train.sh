#!/bin/sh
# Submits a job to Concertina from a pipeline, and stays until it has ended:
#     train.sh JOB_FILE KEY
# It needs curl 7.76 and jq; CONCERTINA_URL, and in CONCERTINA_TOKEN a token of scope `submit`. KEY names the run of
# the pipeline: the same key means the same job for 24 hours, so a run that is tried again does not train twice.
# Exit codes are those of the command line (docs/clients/cli.md): 0 completed, 1 failed, 3 refused, 4 no such job,
# 5 not allowed, 6 not reached, 7 cancelled.
set -eu
file=${1:?JOB_FILE is missing: train.sh JOB_FILE KEY}
key=${2:?KEY is missing: train.sh JOB_FILE KEY}
url=${CONCERTINA_URL:?is not set: the address of the service, such as https://concertina.example.com}
url=${url%/}
: "${CONCERTINA_TOKEN:?is not set: a token of scope submit, from the secrets of your CI}"
pause=${CONCERTINA_PAUSE_SECONDS:-10}
patience=${CONCERTINA_PATIENCE_SECONDS:-600} # that the service may be away
lasting=
answer=$(mktemp)
trap 'rm -f "$answer"' EXIT

# Asks, again while the service is away, and leaves the body in $answer and the status in $status. The token is no
# argument of curl, where everybody on the machine could read it.
ask() {
    status=$(printf 'header = "Authorization: Bearer %s"\n' "$CONCERTINA_TOKEN" \
        | curl --config - --silent --max-time 60 --retry 1000 --retry-delay 2 --retry-max-time "$patience" \
            --retry-connrefused $lasting --output "$answer" --write-out '%{http_code}' "$@") || status=000
}

# Says what was wrong, and ends.
give_up() {
    jq -r '.message, (.details[]? | "  \(.field): \(.problem) \(.remedy)")' "$answer" 2>/dev/null || cat "$answer"
    case $status in
        401 | 403) exit 5 ;;
        404) exit 4 ;;
        4*) exit 3 ;;
        *) echo "$url could not be reached, or did not answer as it should ($status)." && exit 6 ;;
    esac
}

case $file in *.json) type=application/json ;; *) type=application/yaml ;; esac
ask --request POST --header "Content-Type: $type" --header "Idempotency-Key: $key" \
    ${TRACEPARENT:+--header "traceparent: $TRACEPARENT"} --data-binary "@$file" "$url/api/v1/jobs"
case $status in 2*) ;; *) give_up ;; esac
id=$(jq -r .id "$answer")
lasting=--retry-all-errors # the address is right: whatever goes wrong from now on may pass
echo "Job $id: $url/jobs/$id"

told=
while :; do
    ask "$url/api/v1/jobs/$id"
    [ "$status" = 200 ] || give_up
    state=$(jq -r .state "$answer")
    now=$(jq -r '"\(.state)  \(.message)"' "$answer")
    [ "$now" = "$told" ] || echo "$now"
    told=$now
    case $state in
        completed) exit 0 ;;
        failed | cancelled) break ;;
    esac
    sleep "$pause"
done

ask "$url/api/v1/jobs/$id/logs?tail=${CONCERTINA_LAST_LINES:-50}"
[ "$status" != 200 ] || jq -r '.items[] | "\(.worker) | \(.text)"' "$answer"
echo "Job $id $state: $url/jobs/$id"
[ "$state" = failed ] || exit 7
exit 1
