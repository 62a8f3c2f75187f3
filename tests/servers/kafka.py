"""A real Kafka broker (KRaft, one node, this machine only) for tests: its jars come from Maven, once."""

from __future__ import annotations

import base64
import shutil
import subprocess
import time
import uuid
from pathlib import Path
from typing import TYPE_CHECKING

import pyspark
import pytest

from tests.servers.classes import LIMIT_S, archive_of, archive_options, make_archive, making_options
from tests.servers.process import ServerProcess, free_port, missing
from tests.servers.waiting import wait_until

if TYPE_CHECKING:
    from tests.servers.proxy import Proxy

POM = Path(__file__).with_name("kafka-pom.xml")
JARS = Path.home() / ".cache" / "ouzel-test" / "kafka"
_JVM = ("-Xmx512m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn")
DAY_S = 86_400


def jars() -> Path:
    """The folder of the broker's jars, filled from Maven Central the first time.

    Without Java or Maven the test is skipped on a developer's machine, and fails where CI=true.
    """
    return fetched(POM, JARS)


def spark_jars() -> list[Path]:
    """The jars of Spark's own Kafka source: of the version that is installed, if Maven Central has it, else of the one in the pom."""
    pom, version = POM.with_name("spark-kafka-pom.xml"), pyspark.__version__
    own, older = (JARS.with_name(f"spark-kafka{suffix}") for suffix in (f"-{version}", ""))
    failed = own / ".failed"
    looked = failed.exists() and time.time() - failed.stat().st_mtime < DAY_S
    if not looked and not _fetch(pom, own, f"-Dspark.version={version}"):
        return sorted(own.glob("*.jar"))
    own.mkdir(parents=True, exist_ok=True)
    failed.touch()
    return sorted(fetched(pom, older).glob("*.jar"))


def fetched(pom: Path, folder: Path, *more: str) -> Path:
    """The folder with the jars that the pom names, filled the first time; see `jars`. `more` are options of Maven's."""
    for tool in ("java", "mvn"):
        if not shutil.which(tool):
            missing(f"{folder.name} needs '{tool}' on the PATH")
    reason = _fetch(pom, folder, *more)
    if reason:
        missing(f"{folder.name}'s jars cannot be fetched with Maven: {reason}")
    return folder


def _fetch(pom: Path, folder: Path, *more: str) -> str:
    """Fill the folder if that has not been done; why it cannot be done, or nothing."""
    done = folder / ".complete"
    if done.exists() and done.stat().st_mtime >= pom.stat().st_mtime:
        return ""
    if not shutil.which("mvn"):
        return "there is no 'mvn' on the PATH"
    command = ["mvn", "-q", "-B", "-f", str(pom), "dependency:copy-dependencies", f"-DoutputDirectory={folder}", *more]
    fetched = subprocess.run([*command, "-DincludeScope=runtime"], capture_output=True, text=True, check=False)
    if fetched.returncode:
        return (fetched.stdout + fetched.stderr)[-500:]
    done.touch()
    return ""


USER, PASSWORD = "ouzel", "hunter2"
_LOGIN = "org.apache.kafka.common.security.plain.PlainLoginModule"


def _certify(directory: Path) -> Path:
    """Make a key for the broker, and the certificate that a client trusts."""
    key, certificate = directory / "key.pem", directory / "certificate.pem"
    request = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=broker"]
    names = ["-addext", "subjectAltName=IP:127.0.0.1", "-keyout", str(key), "-out", str(certificate)]
    subprocess.run([*request, *names], check=True, capture_output=True)
    (directory / "broker.pem").write_text(key.read_text() + certificate.read_text())
    return certificate


class KafkaBroker(ServerProcess):
    """One broker with its data under `directory`. It also listens at a port that demands TLS, and the name and password of a user.

    With a `proxy` it tells clients that it is there.
    """

    def __init__(self, directory: Path, proxy: Proxy | None = None) -> None:
        super().__init__(directory)
        self._proxy = proxy
        self.options = archive_options(archive_of("kafka", jars()))
        self._controller, self._secure = free_port(), free_port()
        self._classpath = str(jars() / "*")
        self.certificate = _certify(directory)
        self._properties = directory / "server.properties"
        self._properties.write_text(self._settings())
        cluster = base64.urlsafe_b64encode(uuid.uuid4().bytes).decode().rstrip("=").replace("-", "A")
        subprocess.run(
            self._java("kafka.tools.StorageTool", "format", "-t", cluster, "-c", str(self._properties)),
            check=True,
            capture_output=True,
        )
        self.start()

    def command(self) -> list[str]:
        """See ServerProcess."""
        return self._java("kafka.Kafka", str(self._properties))

    @property
    def address(self) -> str:
        """host:port for 'bootstrap.servers'."""
        return f"127.0.0.1:{self.port}"

    @property
    def secure_address(self) -> str:
        """The same for who has `certificate`, USER and PASSWORD."""
        return f"127.0.0.1:{self._secure}"

    def _java(self, *arguments: str) -> list[str]:
        return ["java", *_JVM, *self.options, "-cp", self._classpath, *arguments]

    def _settings(self) -> str:
        one_copy = "offsets.topic", "transaction.state.log", "share.coordinator.state.topic"
        copies = "\n".join(f"{topic}.replication.factor=1\n{topic}.num.partitions=4" for topic in one_copy)
        return f"""process.roles=broker,controller
node.id=1
controller.quorum.voters=1@127.0.0.1:{self._controller}
listeners=PLAINTEXT://127.0.0.1:{self.port},SASL_SSL://127.0.0.1:{self._secure},CONTROLLER://127.0.0.1:{self._controller}
advertised.listeners=PLAINTEXT://{self._proxy.address if self._proxy else self.address},SASL_SSL://127.0.0.1:{self._secure}
controller.listener.names=CONTROLLER
listener.security.protocol.map=PLAINTEXT:PLAINTEXT,SASL_SSL:SASL_SSL,CONTROLLER:PLAINTEXT
sasl.enabled.mechanisms=PLAIN
listener.name.sasl_ssl.plain.sasl.jaas.config={_LOGIN} required user_{USER}="{PASSWORD}";
ssl.keystore.type=PEM
ssl.keystore.location={self.directory}/broker.pem
log.dirs={self.directory}/log
num.partitions=2
log.retention.ms=-1
transaction.state.log.min.isr=1
share.coordinator.state.topic.min.isr=1
group.initial.rebalance.delay.ms=0
auto.create.topics.enable=false
{copies}
"""

    def create_topic(self, name: str, partitions: int = 2) -> None:
        """Make a topic and wait until it is there: on a busy machine the broker says so before it can tell of its partitions."""
        from confluent_kafka.admin import AdminClient, NewTopic, TopicMetadata

        admin = AdminClient({"bootstrap.servers": self.address})
        for made in admin.create_topics([NewTopic(name, partitions, 1)]).values():
            made.result(30)
        wait_until(
            lambda: len(admin.list_topics(timeout=30).topics.get(name, TopicMetadata()).partitions) >= partitions,
            told=lambda: f"there is no topic {name}",
        )

    def produce(self, topic: str, values: list[bytes | None], key: bytes | None = None) -> None:
        """Write values, in turn to the topic's partitions, each once, and wait until they are kept."""
        from confluent_kafka import Producer

        settings = {
            "linger.ms": 20,
            "queue.buffering.max.messages": 2_000_000,
            "enable.idempotence": True,
            "log_level": 0,
        }
        producer = Producer({"bootstrap.servers": self.address, **settings})
        partitions = len(producer.list_topics(topic, timeout=30).topics[topic].partitions)
        for number, value in enumerate(values):
            producer.produce(topic, value, key, partition=number % partitions)
        assert producer.flush(60) == 0

    def values(self, topic: str) -> list[bytes]:
        """The values of all records that are there now."""
        from confluent_kafka import Consumer, KafkaError, TopicPartition

        consumer = Consumer({"bootstrap.servers": self.address, "group.id": "values", "enable.partition.eof": True})
        partitions = consumer.list_topics(topic, timeout=30).topics[topic].partitions
        consumer.assign([TopicPartition(topic, number, 0) for number in partitions])
        found, left = [], len(partitions)
        while left:
            for message in consumer.consume(10_000, 1):
                if message.error() is None:
                    found.append(message.value())
                left -= message.error() is not None and message.error().code() == KafkaError._PARTITION_EOF
        consumer.close()
        return found


_SHARED = pytest.StashKey[KafkaBroker]()


def shared_broker(config: pytest.Config, folders: pytest.TempPathFactory) -> KafkaBroker:
    """The broker of the session, started again if a test has left it dead; tests make topics of their own.

    All of a session share it, for each that starts takes four seconds of CPU time.
    """
    if _SHARED not in config.stash:
        config.stash[_SHARED] = KafkaBroker(folders.mktemp("kafka"))
        config.add_cleanup(config.stash[_SHARED].kill)
    broker = config.stash[_SHARED]
    if broker.process is None:
        broker.start()
    return broker


def make_kafka_archive() -> None:
    """Make the archive of the classes that a broker loads, where its jars can be had."""
    if not _fetch(POM, JARS):
        make_archive(archive_of("kafka", JARS), _run_broker)


def _run_broker(unfinished: Path, folder: Path) -> None:
    """Run a broker that writes, when it is told to end, which classes it has loaded."""
    broker = KafkaBroker(folder)
    try:
        broker.kill()
        broker.options = making_options(unfinished)
        broker.start()
        broker.create_topic("topic")
        broker.produce("topic", [b"value"] * 10)
        broker.values("topic")
        assert broker.process is not None
        broker.process.terminate()
        broker.process.wait(LIMIT_S)
    finally:
        broker.kill()
